// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotatedBeanDefinitionReader;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.interceptor.DistributedLockAdvisor;
import io.github.lockstarter.interceptor.InvalidLockDefinitionException;
import io.github.lockstarter.interceptor.LockDefinitionSource;
import io.github.lockstarter.testsupport.CapturedLog;
import io.github.lockstarter.testsupport.Cases;
import io.github.lockstarter.testsupport.JobInPackage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

@ExtendWith(CapturedLog.Extension.class)
class LockDefinitionValidatorTests {

	@Test
	void validBeansStart() {
		start((context) -> {
			context.registerBean(Valid.class);
			context.registerBean("plain", Object.class, Object::new);
		}, true);
	}

	@Test
	void aMethodThatNoProxyCanReachIsRefused() {
		Cases.each(List.<Class<?>>of(PrivateMethod.class, FinalMethod.class, StaticMethod.class,
				FinalMethodOfClass.class, InheritedPrivateMethod.class), (type) -> {
					assertThat(failure((context) -> context.registerBean(type)))
						.satisfies((ex) -> assertThat(ex.getAction()).contains("LockTemplate"))
						.message()
						.matches("Invalid @DistributedLock on '.*\\.run\\(\\)'.*: the method is"
								+ " (private|final|static), so no proxy can intercept its calls\\. .*");
				});
	}

	@Test
	void aClassThatNoProxyCanExtendEndsTheStart() {
		assertThatExceptionOfType(BeanCreationException.class)
			.isThrownBy(() -> start((context) -> context.registerBean(FinalClass.class), true))
			.withMessageContaining("Could not generate CGLIB subclass of class " + FinalClass.class.getName());
	}

	@Test
	void aFinalClassIsLockedByItsInterface() {
		List<LockKey> locks = new ArrayList<>();
		start((context) -> {
			AopConfigUtils.registerAutoProxyCreatorIfNecessary(context);
			context.registerBean(FinalClassWithInterface.class);
			context.registerBean(RecordWithoutLock.class);
		}, false, (context) -> context.getBean(Job.class).run(), locks);
		assertThat(locks).containsExactly(LockKey.of("LockDefinitionValidatorTests.FinalClassWithInterface.run"));
	}

	@Test
	void aCallbackOfTheContainerIsRefused() {
		Cases.each(List.<Class<?>>of(LockedAfterConstruction.class, LockedBeforeDestruction.class,
				LockedClassWithCallback.class), (type) -> {
					for (boolean lazy : new boolean[] { false, true }) {
						assertThat(failure(
								(context) -> context.registerBean(type, (definition) -> definition.setLazyInit(lazy))))
							.satisfies((ex) -> assertThat(ex.getAction()).contains("LockTemplate"))
							.message()
							.matches("Invalid @DistributedLock on '.*\\(\\)'.*: the lock has no effect on a method with"
									+ " @(PostConstruct|PreDestroy), which Spring itself calls\\. .*");
					}
				});
	}

	@ParameterizedTest
	@CsvSource({ "close, ''", ", close", ", (inferred)", ", " })
	void aMethodThatABeanDefinitionNamesIsRefused(@Nullable String init, @Nullable String destroy) {
		for (boolean lazy : new boolean[] { false, true }) {
			assertThat(failure((context) -> context.registerBean(Closing.class, (definition) -> {
				definition.setLazyInit(lazy);
				definition.setInitMethodName(init);
				definition.setDestroyMethodName(destroy);
			}))).message().contains("the lock has no effect on an init or destroy method of the bean '");
		}
	}

	@Test
	void aMethodThatSpringDoesNotCallAtTheEndIsLocked() {
		start((context) -> context.registerBean(Closing.class, (definition) -> definition.setDestroyMethodName("")),
				true);
	}

	@Test
	void aBeanThatIsALambdaHasTheLockOfItsInterface() {
		List<LockKey> locks = new ArrayList<>();
		start((context) -> {
			context.registerBean("lambda", Sweeper.class, () -> (room) -> {
			});
			context.registerBean("reference", Sweeper.class, () -> LockDefinitionValidatorTests::sweep);
			context.registerBean("unlocked", Runnable.class, () -> () -> {
			});
		}, true, (context) -> {
			context.getBean("lambda", Sweeper.class).sweep(7);
			context.getBean("reference", Sweeper.class).sweep(8);
		}, locks);
		assertThat(locks).containsExactly(LockKey.of("LockDefinitionValidatorTests.Sweeper.sweep", 7),
				LockKey.of("LockDefinitionValidatorTests.Sweeper.sweep", 8));
	}

	@Test
	void aBeanThatIsALambdaIsCheckedLikeAnyOther() {
		assertThatExceptionOfType(InvalidLockDefinitionException.class)
			.isThrownBy(() -> start((context) -> context.registerBean(MisspeltSweeper.class, () -> (room) -> {
			}), true))
			.withMessageContaining("MisspeltSweeper.sweep(long)': key \"#rom\" uses #rom, which does not exist")
			.satisfies((ex) -> assertThat(ex.getAction()).isEqualTo("The parameters are: #room."));
	}

	@Test
	void aBeanThatCallsItsOwnAnnotatedMethodIsWarnedOf(CapturedLog log) {
		start((context) -> {
			context.registerBean(SelfCaller.class);
			context.registerBean("prototype", SelfCaller.class,
					(definition) -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE));
		}, true);
		assertThat(log).containsOnlyOnce("SelfCaller.runAll' calls '");
	}

	@Test
	void lazyBeansAndPrototypesAreCheckedAtTheStart() {
		assertThatExceptionOfType(InvalidLockDefinitionException.class)
			.isThrownBy(() -> start((context) -> context.registerBean(UnknownVariable.class,
					(definition) -> definition.setLazyInit(true)), true))
			.withMessageContaining("#id");
		assertThatExceptionOfType(InvalidLockDefinitionException.class)
			.isThrownBy(() -> start((context) -> context.registerBean(UnknownVariable.class,
					(definition) -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE)), true))
			.withMessageContaining("#id");
	}

	@Test
	void aMethodThatIsNotVisibleInThePackageOfTheBeanIsRefused() {
		assertThat(failure((context) -> context.registerBean(JobOfOtherPackage.class)))
			.hasMessageContaining("JobInPackage.run()': the method is not visible in the package of its bean's class");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aFinalMethodBesideAnAnnotatedOneIsWarnedOf(boolean lazy, CapturedLog log) {
		start((context) -> context.registerBean("counter", WithFinalMethod.class,
				(definition) -> definition.setLazyInit(lazy)), true);
		assertThat(log)
			.containsOnlyOnce("WithFinalMethod.count()' is final, so it runs on the proxy of the bean 'counter'"
					+ " itself, where all fields are null")
			.doesNotContain("constant");
	}

	@Test
	void aFinalMethodBehindAProxyOfAnInterfaceIsNotReached(CapturedLog log) {
		start((context) -> {
			AopConfigUtils.registerAutoProxyCreatorIfNecessary(context);
			context.registerBean(WithFinalMethod.class);
		}, false);
		assertThat(log).isEmpty();
	}

	@Test
	void aScopedBeanStarts() {
		start((context) -> {
			context.getBeanFactory().registerScope("thread", new SimpleThreadScope());
			AnnotatedBeanDefinitionReader reader = new AnnotatedBeanDefinitionReader(context);
			reader.registerBean(ScopedJob.class);
		}, true);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void theLockOfAnInterfaceBehindAProxyIsNamedAfterTheInterface(boolean injected) {
		List<LockKey> locks = new ArrayList<>();
		start((context) -> {
			context.registerBean("repository", RepositoryFactory.class);
			if (injected) {
				context.registerBean(User.class);
			}
		}, true, (context) -> {
			Repository repository = context.getBean(Repository.class);
			repository.clean();
			repository.save(7);
		}, locks);
		assertThat(locks).containsExactly(LockKey.of("LockDefinitionValidatorTests.Repository.clean"),
				LockKey.of("LockDefinitionValidatorTests.Repository.save", 7));
	}

	@Test
	void aMockHasNothingToLock() {
		start((context) -> {
			context.registerBean("valid", Valid.class);
			context.getBeanFactory().registerSingleton("valid", Mockito.mock(Valid.class));
		}, true);
	}

	@Test
	void aBeanThatSpringDidNotCreateIsOnlyWarnedOf(CapturedLog log) {
		start((context) -> context.getBeanFactory().registerSingleton("valid", new Valid()), true);
		assertThat(log).contains("The bean 'valid' was not created by Spring, so '").contains("runs without a lock");
	}

	@ParameterizedTest
	@ValueSource(classes = { NoPublicMethod.class, InheritsNoPublicMethod.class })
	void aClassWithoutAnyMethodToLockIsWarnedOf(Class<?> type, CapturedLog log) {
		start((context) -> context.registerBean(type), true);
		assertThat(log).containsOnlyOnce("@DistributedLock on the class " + type.getName()
				+ " has no effect, because it has no public method: make the methods public that need the lock");
	}

	@Test
	void aClassWhoseMethodsAreLockedIsNotWarnedOf(CapturedLog log) {
		start((context) -> context.registerBean(LockedClass.class), true);
		assertThat(log).doesNotContain("has no effect");
	}

	@Test
	void aTransactionOutsideOfTheLockIsRefused() {
		assertThat(failure((context) -> {
			context.registerBean(TransactionsOutside.class);
			context.registerBean(TransactionManager.class, () -> Mockito.mock());
			context.registerBean("sale", Sale.class);
		})).hasMessageContaining("the transactions of the bean 'sale' would begin before its lock is acquired")
			.satisfies((ex) -> assertThat(ex.getAction()).contains("distributed-lock.advice-order"));
	}

	/** A failed creation of the bean may wrap the exception. */
	private static InvalidLockDefinitionException failure(Consumer<GenericApplicationContext> beans) {
		Throwable cause = NestedExceptionUtils.getMostSpecificCause(catchThrowable(() -> start(beans, true)));
		assertThat(cause).isInstanceOf(InvalidLockDefinitionException.class);
		return (InvalidLockDefinitionException) cause;
	}

	private static void sweep(long room) {
	}

	private static void start(Consumer<GenericApplicationContext> beans, boolean proxies) {
		start(beans, proxies, (context) -> {
		}, new ArrayList<>());
	}

	private static void start(Consumer<GenericApplicationContext> beans, boolean proxies,
			Consumer<GenericApplicationContext> use, List<LockKey> locks) {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			if (proxies) {
				AopConfigUtils.registerAutoProxyCreatorIfNecessary(context);
				AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(context);
			}
			LockDefinitionSource definitions = new LockDefinitionSource(context.getBeanFactory());
			context.registerBean(DistributedLockAdvisor.class,
					() -> new DistributedLockAdvisor(definitions, (name) -> registry(locks)),
					(definition) -> definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE));
			context.registerBean(LockDefinitionValidator.class,
					() -> new LockDefinitionValidator(definitions, context.getBeanFactory(), AdviceMode.PROXY));
			beans.accept(context);
			context.refresh();
			use.accept(context);
		}
	}

	private static LockRegistry registry(List<LockKey> locks) {
		LockRegistry registry = Mockito.mock();
		Mockito.when(registry.acquire(Mockito.any())).then((call) -> {
			locks.add(call.<LockRequest>getArgument(0).key());
			return Mockito.mock(Lease.class);
		});
		return registry;
	}

	static class Valid {

		@DistributedLock(key = "#id")
		public void run(long id) {
		}

		@DistributedLock
		void inPackage() {
		}

	}

	static class SelfCaller extends Valid {

		public void runAll() {
			run(1);
		}

	}

	@DistributedLock
	static class NoPublicMethod {

		void run() {
		}

	}

	static class InheritsNoPublicMethod extends NoPublicMethod {

	}

	@DistributedLock
	static class LockedClass {

		public void run() {
		}

	}

	static class PrivateMethod {

		@DistributedLock
		private void run() {
		}

	}

	static class InheritedPrivateMethod extends PrivateMethod {

	}

	static class FinalMethod {

		@DistributedLock
		public final void run() {
		}

	}

	static class WithFinalMethod implements Job {

		@Override
		@DistributedLock
		public void run() {
		}

		public final int count() {
			return 0;
		}

		public static final int constant() {
			return 0;
		}

	}

	static class StaticMethod {

		@DistributedLock
		public static void run() {
		}

	}

	@DistributedLock
	static class FinalMethodOfClass {

		public final void run() {
		}

	}

	static final class FinalClass {

		@DistributedLock
		public void run() {
		}

	}

	record RecordWithoutLock() {

	}

	interface Job {

		void run();

	}

	static final class FinalClassWithInterface implements Job {

		@Override
		@DistributedLock
		public void run() {
		}

	}

	static class LockedAfterConstruction {

		@PostConstruct
		@DistributedLock
		public void fill() {
		}

	}

	static class LockedBeforeDestruction {

		@PreDestroy
		@DistributedLock
		public void drain() {
		}

	}

	static class Closing implements AutoCloseable {

		@Override
		@DistributedLock
		public void close() {
		}

	}

	@DistributedLock
	static class LockedClassWithCallback {

		@PostConstruct
		public void fill() {
		}

	}

	@FunctionalInterface
	interface Sweeper {

		@DistributedLock(key = "#room")
		void sweep(long room);

	}

	@FunctionalInterface
	interface MisspeltSweeper {

		@DistributedLock(key = "#rom")
		void sweep(long room);

	}

	static class UnknownVariable {

		@DistributedLock(key = "#id")
		public void run() {
		}

	}

	static class JobOfOtherPackage extends JobInPackage {

	}

	@Scope(scopeName = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
	static class ScopedJob {

		@DistributedLock(key = "#id")
		public void run(long id) {
		}

	}

	interface Repository {

		@DistributedLock
		void clean();

		@DistributedLock(key = "#id")
		void save(long id);

	}

	static class RepositoryFactory implements FactoryBean<Repository> {

		@Override
		public Repository getObject() {
			ProxyFactory factory = new ProxyFactory(Repository.class, (MethodInterceptor) (invocation) -> null);
			return (Repository) factory.getProxy();
		}

		@Override
		public Class<?> getObjectType() {
			return Repository.class;
		}

	}

	record User(Repository repository) {
	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(order = 0)
	static class TransactionsOutside {

	}

	static class Sale {

		@Transactional
		@DistributedLock
		public void run() {
		}

	}

}
