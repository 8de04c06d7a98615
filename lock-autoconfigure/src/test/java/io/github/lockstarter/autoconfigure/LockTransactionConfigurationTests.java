// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.testsupport.OrdersDatabase;
import io.github.lockstarter.transaction.TransactionAwareLockRegistry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class LockTransactionConfigurationTests {

	private final ManualTime time = new ManualTime();

	private final LockMemory memory = new LockMemory(this.time);

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
		.withBean(LockStore.class, () -> new MemoryLockStore(this.memory))
		.withUserConfiguration(Database.class);

	@Test
	void noTransactionOfAnAnnotatedMethodCommitsAfterItsLockWasLost() {
		this.runner.withBean("own", DefaultLockRegistry.class, () -> registry()).run((context) -> {
			Sales sales = context.getBean(Sales.class);
			sales.sell(() -> {
			});
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> sales.sell(() -> {
				this.memory.clear();
				this.time.advance(EngineSettings.DEFAULTS.leaseTime());
			}));
			assertThat(orders(context)).isOne();
		});
	}

	@Test
	void aLockAcquiredInsideATransactionIsHeldUntilItsEnd() {
		this.runner.run((context) -> {
			inTransaction(context, () -> {
				context.getBean(Sales.class).sell(() -> {
				});
				assertThat(this.memory.isEmpty()).isFalse();
			});
			assertThat(this.memory.isEmpty()).isTrue();
			inTransaction(context, () -> {
				context.getBean(LockRegistry.class).acquire(LockRequest.of("sale", 1)).close();
				assertThat(this.memory.isEmpty()).isFalse();
			});
			assertThat(this.memory.isEmpty()).isTrue();
		});
	}

	@Test
	void beansGetTheRegistryByItsType() {
		this.runner.run((context) -> {
			assertThat(context.getBean(LockRegistry.class)).isInstanceOf(TransactionAwareLockRegistry.class);
			assertThat(context.getBeanProvider(LockRegistry.class).getIfUnique()).isNotNull();
		});
	}

	@Test
	void aRegistryOfTheApplicationIsLeftAsItIsAndItsBodiesRespectTransactions() {
		this.runner.withBean("own", DefaultLockRegistry.class, () -> registry()).run((context) -> {
			assertThat(context.getBean(LockRegistry.class)).isSameAs(context.getBean("own"));
			inTransaction(context, () -> {
				context.getBean(Sales.class).sell(() -> {
				});
				context.getBean(LockTemplate.class).execute(LockRequest.of("order"), (lease) -> null);
				assertThat(this.memory.isEmpty()).isFalse();
			});
			assertThat(this.memory.isEmpty()).isTrue();
		});
	}

	@Test
	void thePropertySaysWhatAnnotationsTheTemplateAndTheRegistryDo() {
		this.runner.withPropertyValues("distributed-lock.on-active-transaction=fail")
			.run((context) -> inTransaction(context, () -> {
				assertThatIllegalStateException().isThrownBy(() -> context.getBean(Sales.class).sell(() -> {
				})).withMessageContaining("must not be acquired inside a transaction");
				assertThatIllegalStateException().isThrownBy(
						() -> context.getBean(LockTemplate.class).execute(LockRequest.of("sale", 1), (lease) -> null));
				assertThatIllegalStateException()
					.isThrownBy(() -> context.getBean(LockRegistry.class).acquire(LockRequest.of("sale", 1)));
				assertThat(this.memory.isEmpty()).isTrue();
			}));
	}

	@Test
	void withoutTransactionsThereIsAPlainRegistryAndNothingToGuard() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.store=memory")
			.withClassLoader(new FilteredClassLoader(ConfigurableTransactionManager.class))
			.run((context) -> assertThat(context).doesNotHaveBean("distributedLockCommitGuards")
				.getBean("distributedLockRegistry")
				.isInstanceOf(DefaultLockRegistry.class));
	}

	private DefaultLockRegistry registry() {
		return new DefaultLockRegistry(new MemoryLockStore(this.memory), EngineSettings.DEFAULTS, LockListener.NO_OP,
				this.time);
	}

	private static void inTransaction(ApplicationContext context, Runnable body) {
		new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
			.executeWithoutResult((status) -> body.run());
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

	static class Sales {

		private final JdbcClient jdbc;

		Sales(JdbcClient jdbc) {
			this.jdbc = jdbc;
		}

		@Transactional
		@DistributedLock(name = "sale", key = "1")
		public void sell(Runnable inside) {
			this.jdbc.sql("insert into orders values (1)").update();
			inside.run();
		}

	}

}
