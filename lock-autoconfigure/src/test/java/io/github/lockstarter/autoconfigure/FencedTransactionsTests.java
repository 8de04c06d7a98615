// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.RuntimeBeanReference;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.PriorityOrdered;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabase;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.AbstractReactiveTransactionManager;
import org.springframework.transaction.reactive.GenericReactiveTransaction;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.TransactionFencing;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.interceptor.InvalidLockDefinitionException;
import io.github.lockstarter.transaction.FenceTable;
import io.github.lockstarter.transaction.FencingNotPossibleException;
import io.github.lockstarter.transaction.FencingSettings;
import io.github.lockstarter.transaction.TransactionFence;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.testsupport.OrdersDatabase;
import io.github.lockstarter.transaction.LockCommitGuard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Applications that fence their transactions by a property or an annotation.
 */
@ExtendWith(OutputCaptureExtension.class)
class FencedTransactionsTests {

	private static final String ON = "distributed-lock.fencing.transactions=true";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
		.withBean(LockStore.class, () -> new MemoryLockStore(new LockMemory()))
		.withUserConfiguration(Database.class);

	@Test
	void theTransactionOfALateOwnerIsRefusedUnlessItsAnnotationIsAgainstIt() {
		this.runner.withUserConfiguration(Fenced.class).withPropertyValues(ON).run((context) -> {
			Sales sales = context.getBean(Sales.class);
			sales.sell();
			laterOwnersClaim(context);
			assertRefused(sales::sell);
			assertThat(orders(context)).isOne();
			context.getBean(FencedSales.class).sellUnfenced();
			assertThat(orders(context)).isEqualTo(2);
		});
	}

	@Test
	void aRefusedTransactionIsAnApplicationEvent() {
		List<Object> published = new CopyOnWriteArrayList<>();
		ApplicationListener<PayloadApplicationEvent<?>> listener = (event) -> published.add(event.getPayload());
		this.runner.withPropertyValues(ON)
			.withInitializer((context) -> context.addApplicationListener(listener))
			.run((context) -> {
				Sales sales = context.getBean(Sales.class);
				sales.sell();
				laterOwnersClaim(context);
				assertRefused(sales::sell);
				assertThat(published).hasExactlyElementsOfTypes(LockEvent.TransactionRefused.class);
			});
	}

	@Test
	void theTransactionsOfAManagerThatWasCreatedEarlyAreFenced() {
		this.runner.withUserConfiguration(Early.class).withPropertyValues(ON).run((context) -> {
			assertThat(context.getBean(JdbcTransactionManager.class).getTransactionExecutionListeners())
				.hasOnlyElementsOfTypes(TransactionFence.class, LockCommitGuard.class)
				.hasSize(2);
			Sales sales = context.getBean(Sales.class);
			sales.sell();
			laterOwnersClaim(context);
			assertRefused(sales::sell);
		});
	}

	@Test
	void theTransactionsOfAManagerInAChildContextWithoutLocksAreFenced() {
		this.runner.withPropertyValues(ON).run((context) -> {
			try (AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext()) {
				child.setParent(context);
				child.registerBean("ofChild", JdbcTransactionManager.class,
						() -> new JdbcTransactionManager(context.getBean(DataSource.class)));
				child.refresh();
				JdbcTransactionManager manager = child.getBean("ofChild", JdbcTransactionManager.class);
				assertThat(manager.getTransactionExecutionListeners())
					.hasOnlyElementsOfTypes(TransactionFence.class, LockCommitGuard.class)
					.hasSize(2);
				context.getBean(Sales.class).sell();
				laterOwnersClaim(context);
				assertRefused(() -> context.getBean(LockTemplate.class)
					.executeWithoutResult(LockRequest.of("sale"),
							(lease) -> new TransactionTemplate(manager).executeWithoutResult((transaction) -> {
							})));
			}
		});
	}

	/** Another one may read, which fixes the snapshot in some databases. */
	@Test
	void noOtherListenerComesBeforeTheFence() {
		JdbcTransactionManager manager = new JdbcTransactionManager();
		manager.addListener(new TransactionExecutionListener() {
		});
		this.runner.withPropertyValues(ON)
			.withBean("second", JdbcTransactionManager.class, () -> manager,
					(definition) -> definition.getPropertyValues()
						.add("dataSource", new RuntimeBeanReference(DataSource.class)))
			.run((context) -> assertThat(manager.getTransactionExecutionListeners()).first()
				.isInstanceOf(TransactionFence.class));
	}

	@Test
	void transactionsUnderTheLocksOfTemplatesAndRegistriesAreFenced() {
		this.runner.withPropertyValues(ON).run((context) -> {
			LockRequest request = LockRequest.of("sale");
			LockTemplate template = context.getBean(LockTemplate.class);
			LockRegistry registry = context.getBean(LockRegistry.class);
			Sales sales = context.getBean(Sales.class);
			template.execute(request, (lease) -> sales.insert());
			try (Lease lease = registry.acquire(request)) {
				sales.insert();
			}
			laterOwnersClaim(context);
			assertRefused(() -> template.execute(request, (lease) -> sales.insert()));
			assertRefused(() -> {
				try (Lease lease = registry.acquire(request)) {
					sales.insert();
				}
			});
			assertThat(orders(context)).isEqualTo(2);
		});
	}

	@Test
	void withoutThePropertyNoTransactionIsFenced() {
		this.runner.run((context) -> {
			context.getBean(Sales.class).sell();
			assertThat(orders(context)).isOne();
			assertThatExceptionOfType(BadSqlGrammarException.class).isThrownBy(() -> laterOwnersClaim(context));
		});
	}

	@Test
	void anAnnotationFencesItsMethodOnly() {
		this.runner.withUserConfiguration(Fenced.class).run((context) -> {
			context.getBean(FencedSales.class).sell();
			laterOwnersClaim(context);
			assertRefused(() -> context.getBean(FencedSales.class).sell());
			context.getBean(Sales.class).sell();
			assertThat(orders(context)).isEqualTo(2);
		});
	}

	@Test
	void disabledLocksHaveNoTokensToClaim() {
		this.runner.withUserConfiguration(Fenced.class)
			.withPropertyValues(ON, "distributed-lock.enabled=false")
			.run((context) -> {
				context.getBean(FencedSales.class).sell();
				assertThat(orders(context)).isOne();
			});
	}

	@Test
	void aMissingTableEndsTheStart() {
		this.runner.withPropertyValues(ON, "distributed-lock.fencing.initialize-schema=never")
			.run((context) -> assertThat(analysisOf(context.getStartupFailure())).satisfies((analysis) -> assertThat(
					analysis.getDescription())
				.startsWith("Transactions of the DataSource 'jdbc:h2:mem:")
				.contains(
						"' are fenced, but cannot claim fencing tokens in its table 'distributed_lock_fence' (Table "))
				.satisfies((analysis) -> assertThat(analysis.getAction())
					.contains("io/github/lockstarter/fencing of lock-spring")
					.contains("distributed-lock.fencing.initialize-schema=always")));
	}

	@Test
	void aMissingTableEndsTheStartForASingleAnnotation() {
		this.runner.withUserConfiguration(Fenced.class)
			.withPropertyValues("distributed-lock.fencing.initialize-schema=never")
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.isInstanceOf(FencingNotPossibleException.class));
	}

	@Test
	void theTableMayHaveAnotherName() {
		this.runner.withPropertyValues(ON, "distributed-lock.fencing.table=my_fence").run((context) -> {
			context.getBean(Sales.class).sell();
			assertThat(
					context.getBean(JdbcClient.class).sql("select lock_key from my_fence").query(String.class).single())
				.endsWith("/sale");
		});
	}

	@Test
	void aManagerWithoutADataSourceEndsTheStart() {
		this.runner.withUserConfiguration(Messages.class)
			.withPropertyValues(ON)
			.run((context) -> assertThat(analysisOf(context.getStartupFailure()))
				.satisfies((analysis) -> assertThat(analysis.getDescription()).contains("Transactions of 'messages'",
						"cannot be fenced, because it does not reveal their connections"))
				.satisfies(
						(analysis) -> assertThat(analysis.getAction()).contains("distributed-lock.fencing.exclude")));
	}

	@Test
	void aManagerWithoutADataSourceMayBeExcluded() {
		this.runner.withUserConfiguration(Messages.class)
			.withPropertyValues(ON, "distributed-lock.fencing.exclude=messages")
			.run((context) -> {
				context.getBean(LockTemplate.class)
					.executeWithoutResult(LockRequest.of("sale"),
							(lease) -> new TransactionTemplate(
									context.getBean("messages", PlatformTransactionManager.class))
								.executeWithoutResult((status) -> {
								}));
				context.getBean(Sales.class).sell();
				assertThat(orders(context)).isOne();
			});
	}

	@Test
	void anExcludedManagerThatDoesNotExistIsWarnedOf(CapturedOutput output) {
		this.runner.withPropertyValues(ON, "distributed-lock.fencing.exclude=transactionManager,nope")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce("There is no transaction manager 'nope', which"
				+ " distributed-lock.fencing.exclude (the field 'exclude' of FencingSettings) names: correct or remove it."
				+ " Transaction managers: 'transactionManager'");
	}

	@Test
	void aFencedMethodOfSuchAManagerIsRefusedAndSoIsALockInsideOfItsTransaction() {
		this.runner.withUserConfiguration(Messages.class).run((context) -> {
			TransactionTemplate messages = new TransactionTemplate(
					context.getBean("messages", PlatformTransactionManager.class));
			LockTemplate template = context.getBean(LockTemplate.class).withTransactionFencing(TransactionFencing.ON);
			LockRequest request = LockRequest.of("sale");
			assertThatExceptionOfType(FencingNotPossibleException.class)
				.isThrownBy(() -> template.execute(request, (lease) -> messages.execute((status) -> 1)));
			assertThatExceptionOfType(FencingNotPossibleException.class)
				.isThrownBy(() -> messages.execute((status) -> template.execute(request, (lease) -> 1)));
		});
	}

	@Test
	void aReactiveManagerEndsTheStartWithTheFenceByHand() {
		this.runner.withUserConfiguration(Reactive.class)
			.withPropertyValues(ON)
			.run((context) -> assertThat(analysisOf(context.getStartupFailure()))
				.satisfies((analysis) -> assertThat(analysis.getDescription()).contains("Transactions of 'reactive'",
						"cannot be fenced, because they are reactive"))
				.satisfies((analysis) -> assertThat(analysis.getAction()).contains(
						"update … set fence = :token where … and fence < :token",
						"name 'reactive' in distributed-lock.fencing.exclude")));
		this.runner.withUserConfiguration(Reactive.class)
			.withPropertyValues(ON, "distributed-lock.fencing.exclude=reactive")
			.run((context) -> assertThat(context).hasNotFailed());
		this.runner.withUserConfiguration(Reactive.class).run((context) -> assertThat(context).hasNotFailed());
	}

	/** The start does not know of it. */
	@Test
	void aReactiveManagerThatIsCreatedLaterCannotBeCreated() {
		this.runner.withUserConfiguration(Reactive.class)
			.withPropertyValues(ON)
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.run((context) -> assertThatExceptionOfType(BeanCreationException.class)
				.isThrownBy(() -> context.getBean("reactive"))
				.withRootCauseInstanceOf(FencingNotPossibleException.class));
	}

	@Test
	void aReactiveTransactionOfAFencedTemplateIsRefused() {
		this.runner.withUserConfiguration(Reactive.class).run((context) -> {
			Mono<String> transaction = TransactionalOperator
				.create(context.getBean("reactive", ReactiveTransactionManager.class))
				.transactional(Mono.just("body"));
			LockTemplate template = context.getBean(LockTemplate.class);
			LockRequest request = LockRequest.of("sale");
			template.executeWithoutResult(request, (lease) -> transaction.block());
			assertThatExceptionOfType(FencingNotPossibleException.class)
				.isThrownBy(() -> template.withTransactionFencing(TransactionFencing.ON)
					.execute(request, (lease) -> transaction.block()))
				.withMessageContaining("fence < :token");
		});
	}

	@ParameterizedTest
	@CsvSource({ "messages, it does not reveal their connections", "reactive, they are reactive" })
	void anAnnotationWithoutAnyDatabaseEndsTheStart(String manager, String reason) {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
			.withBean(LockStore.class, () -> new MemoryLockStore(new LockMemory()))
			.withUserConfiguration(manager.equals("messages") ? Messages.class : Reactive.class)
			.withBean(FencedSales.class, () -> new FencedSales(null))
			.run((context) -> assertThat(analysisOf(context.getStartupFailure()).getDescription())
				.contains("Transactions of '" + manager + "'", reason));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void anApplicationWithoutAnyManagerIsWarned(boolean annotated, CapturedOutput output) {
		ApplicationContextRunner without = withoutManager();
		without.run((context) -> assertThat(output).doesNotContain("transaction manager"));
		(annotated ? without.withBean(FencedSales.class, () -> new FencedSales(null)) : without.withPropertyValues(ON))
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output)
			.containsOnlyOnce("There is no transaction manager bean, so nothing is fenced, although "
					+ (annotated ? "a @DistributedLock has transactionFencing = ON"
							: "distributed-lock.fencing.transactions is true"))
			.containsOnlyOnce("Declare one, such as the JdbcTransactionManager")
			.contains("fence < :token");
	}

	/** No call would get its transaction. */
	@Test
	void aReaderWhoseTransactionWritesEndsTheStart() {
		this.runner.withBean(Reader.class)
			.withPropertyValues(ON)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(InvalidLockDefinitionException.class)
				.hasMessageContaining("Reader.count()': its transaction under the lock is to be fenced, but readers"
						+ " (mode = READ) claim nothing")
				.hasMessageContaining("Use @Transactional(readOnly = true)"));
		this.runner.withBean(FencedReader.class)
			.run((context) -> assertThat(context).getFailure().isInstanceOf(InvalidLockDefinitionException.class));
	}

	@Test
	void aReaderThatNeedsNoFenceIsNotRefused() {
		this.runner.withBean(Reader.class).run((context) -> assertThat(context).hasNotFailed());
		this.runner.withBean(OtherReader.class)
			.withPropertyValues(ON)
			.run((context) -> assertThat(context).hasNotFailed());
		this.runner.withBean(Reader.class)
			.withPropertyValues(ON, "distributed-lock.fencing.exclude=transactionManager")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void missingClassesOfTransactionsEndTheStart() {
		withoutManager().withPropertyValues(ON)
			.withClassLoader(new FilteredClassLoader("org.springframework.transaction"))
			.run((context) -> assertThat(analysisOf(context.getStartupFailure()).getDescription())
				.contains("Spring transactions are not on the class path"));
	}

	/** It exists when it is used. */
	@Test
	void aManagerThatIsLazyOrThatOfTheParentIsOne(CapturedOutput output) {
		withoutManager().withPropertyValues(ON)
			.withBean("lazy", JdbcTransactionManager.class, () -> new JdbcTransactionManager(),
					(definition) -> definition.setLazyInit(true))
			.run((context) -> assertThat(context).hasNotFailed());
		new ApplicationContextRunner()
			.withBean("parent", JdbcTransactionManager.class, () -> new JdbcTransactionManager(),
					(definition) -> definition.setLazyInit(true))
			.run((parent) -> withoutManager().withParent(parent)
				.withPropertyValues(ON)
				.run((context) -> assertThat(context).hasNotFailed()));
		assertThat(output).doesNotContain("There is no transaction manager");
	}

	private static ApplicationContextRunner withoutManager() {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
			.withBean(LockStore.class, () -> new MemoryLockStore(new LockMemory()));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aDataSourceThatChoosesEndsTheStart(boolean lazy) {
		this.runner.withPropertyValues(ON)
			.withBean("tenants", JdbcTransactionManager.class,
					() -> new JdbcTransactionManager(lazy ? new LazyConnectionDataSourceProxy(routing()) : routing()))
			.run((context) -> assertThat(analysisOf(context.getStartupFailure()))
				.satisfies((analysis) -> assertThat(analysis.getDescription()).contains("Transactions of 'tenants'",
						"its DataSource chooses between several databases"))
				.satisfies((analysis) -> assertThat(analysis.getAction()).contains("fence < :token")));
	}

	/** Its transactions may be in the database of the locks. */
	@ParameterizedTest
	@CsvSource({ "false, it does not reveal their connections", "true, they are reactive" })
	void aManagerThatMayUseTheDatabaseOfTheLocksIsWarnedOf(boolean reactive, String reason, CapturedOutput output) {
		besideLocks().withUserConfiguration(reactive ? Reactive.class : Messages.class)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce("Transactions of '" + (reactive ? "reactive" : "messages") + "' (")
			.containsOnlyOnce("cannot be fenced, because " + reason)
			.containsOnlyOnce("fence < :token");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aManagerWhoseDataSourceChoosesBetweenDatabasesIsWarnedOf(boolean lazy, CapturedOutput output) {
		besideLocks()
			.withBean("tenants", JdbcTransactionManager.class,
					() -> new JdbcTransactionManager(lazy ? new LazyConnectionDataSourceProxy(routing()) : routing()))
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce("Transactions of 'tenants' (JdbcTransactionManager) cannot be fenced,"
				+ " because its DataSource chooses between several databases");
	}

	private ApplicationContextRunner besideLocks() {
		return this.runner.withBean(FencingSettings.class,
				() -> new FencingSettings(false,
						(dataSource) -> Optional.of("jdbc").filter((name) -> dataSource instanceof EmbeddedDatabase),
						FenceTable.DEFAULT_NAME, Duration.ofDays(1), Set.of()));
	}

	private static AbstractRoutingDataSource routing() {
		AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {

			@Override
			protected Object determineCurrentLookupKey() {
				throw new IllegalStateException("No tenant");
			}

		};
		routing.setTargetDataSources(Map.of());
		routing.afterPropertiesSet();
		return routing;
	}

	private static FailureAnalysis analysisOf(Throwable failure) {
		return new FencingNotPossibleFailureAnalyzer().analyze(failure);
	}

	private static void laterOwnersClaim(ApplicationContext context) {
		context.getBean(JdbcClient.class)
			.sql("update distributed_lock_fence set token = ?")
			.param(Long.MAX_VALUE)
			.update();
	}

	private static void assertRefused(ThrowingCallable call) {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(call)
			.withMessageContaining("a later owner has claimed");
	}

	private static int orders(ApplicationContext context) {
		return context.getBean(JdbcClient.class).sql("select count(*) from orders").query(Integer.class).single();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	@Import(OrdersDatabase.class)
	static class Database {

		@Bean
		Sales sales(JdbcClient jdbc) {
			return new Sales(jdbc);
		}

	}

	/** A post-processor that comes before others, and needs the manager. */
	static class Early implements BeanPostProcessor, BeanFactoryAware, PriorityOrdered {

		@Override
		public void setBeanFactory(BeanFactory beanFactory) {
			beanFactory.getBean("transactionManager");
		}

		@Override
		public int getOrder() {
			return HIGHEST_PRECEDENCE;
		}

	}

	static class Sales {

		private final JdbcClient jdbc;

		Sales(JdbcClient jdbc) {
			this.jdbc = jdbc;
		}

		@DistributedLock(name = "sale")
		@Transactional("transactionManager")
		public void sell() {
			insert();
		}

		@Transactional("transactionManager")
		public int insert() {
			return this.jdbc.sql("insert into orders values (1)").update();
		}

	}

	static class Reader {

		@DistributedLock(name = "sale", mode = LockMode.READ)
		@Transactional
		public void count() {
		}

	}

	static class FencedReader {

		@DistributedLock(name = "sale", mode = LockMode.READ, transactionFencing = TransactionFencing.ON)
		@Transactional
		public void count() {
		}

	}

	static class OtherReader {

		@DistributedLock(name = "sale", mode = LockMode.READ)
		@Transactional(readOnly = true)
		public void readOnly() {
		}

		@DistributedLock(name = "sale", mode = LockMode.READ, transactionFencing = TransactionFencing.OFF)
		@Transactional
		public void unfenced() {
		}

		@DistributedLock(name = "sale", mode = LockMode.READ, onLost = OnLost.LOG)
		@Transactional
		public void logging() {
		}

		@DistributedLock(name = "sale", mode = LockMode.READ)
		@Transactional(propagation = Propagation.SUPPORTS)
		public void supporting() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Fenced {

		@Bean
		FencedSales fencedSales(JdbcClient jdbc) {
			return new FencedSales(jdbc);
		}

	}

	static class FencedSales {

		private final JdbcClient jdbc;

		FencedSales(JdbcClient jdbc) {
			this.jdbc = jdbc;
		}

		@DistributedLock(name = "sale", transactionFencing = TransactionFencing.ON)
		@Transactional("transactionManager")
		public void sell() {
			this.jdbc.sql("insert into orders values (2)").update();
		}

		@DistributedLock(name = "sale", transactionFencing = TransactionFencing.OFF)
		@Transactional("transactionManager")
		public void sellUnfenced() {
			this.jdbc.sql("insert into orders values (3)").update();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Messages {

		@Bean
		AbstractPlatformTransactionManager messages() {
			return new MessageTransactions();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Reactive {

		@Bean
		ReactiveTransactionManager reactive() {
			return new ReactiveTransactions();
		}

	}

	/** Transactions of something that is no database, and blocks nobody. */
	@SuppressWarnings("serial")
	private static final class ReactiveTransactions extends AbstractReactiveTransactionManager {

		@Override
		protected Object doGetTransaction(TransactionSynchronizationManager context) {
			return this;
		}

		@Override
		protected Mono<Void> doBegin(TransactionSynchronizationManager context, Object transaction,
				TransactionDefinition definition) {
			return Mono.empty();
		}

		@Override
		protected Mono<Void> doCommit(TransactionSynchronizationManager context, GenericReactiveTransaction status) {
			return Mono.empty();
		}

		@Override
		protected Mono<Void> doRollback(TransactionSynchronizationManager context, GenericReactiveTransaction status) {
			return Mono.empty();
		}

	}

	/** Transactions of something that is no database. */
	private static final class MessageTransactions extends AbstractPlatformTransactionManager {

		@Override
		protected Object doGetTransaction() {
			return this;
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

}
