// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotatedBeanDefinitionReader;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.InvalidLockDefinitionException;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.testsupport.JobInPackage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@ExtendWith(OutputCaptureExtension.class)
class LockDefinitionValidatorTests {

	@Test
	void validBeansStart() {
		start((context) -> {
			context.registerBean(Valid.class);
			context.registerBean("plain", Object.class, Object::new);
		}, true);
	}

	@ParameterizedTest
	@ValueSource(classes = { PrivateMethod.class, FinalMethod.class, StaticMethod.class, FinalMethodOfClass.class,
			InheritedPrivateMethod.class })
	void aMethodThatNoProxyCanReachIsRefused(Class<?> type) {
		assertThatExceptionOfType(InvalidLockDefinitionException.class)
			.isThrownBy(() -> start((context) -> context.registerBean(type), true))
			.withMessageMatching("Invalid @DistributedLock on '.*\\.run\\(\\)': the method is"
					+ " (private|final|static), so no proxy can put a lock around it")
			.satisfies((ex) -> assertThat(ex.getAction()).contains("LockTemplate"));
	}

	@Test
	void aBeanThatCallsItsOwnAnnotatedMethodIsWarnedOf(CapturedOutput output) {
		start((context) -> {
			context.registerBean(SelfCaller.class);
			context.registerBean("prototype", SelfCaller.class,
					(definition) -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE));
		}, true);
		assertThat(output).containsOnlyOnce("SelfCaller.runAll' calls '");
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
	void aBeanWithoutAProxyIsRefused() {
		assertThatExceptionOfType(InvalidLockDefinitionException.class)
			.isThrownBy(() -> start((context) -> context.registerBean("valid", Valid.class), false))
			.withMessageContaining("the bean 'valid' has no proxy, so its methods would run without a lock");
	}

	@Test
	void aMethodThatIsNotVisibleInThePackageOfTheBeanIsRefused() {
		assertThatExceptionOfType(InvalidLockDefinitionException.class)
			.isThrownBy(() -> start((context) -> context.registerBean(JobOfOtherPackage.class), true))
			.withMessageContaining("JobInPackage.run()': the method is not visible in the package of its bean's class");
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
	void aBeanThatSpringDidNotCreateIsOnlyWarnedOf(CapturedOutput output) {
		start((context) -> context.getBeanFactory().registerSingleton("valid", new Valid()), true);
		assertThat(output).contains("The bean 'valid' was not created by Spring, so '").contains("runs without a lock");
	}

	@Test
	void aTransactionOutsideOfTheLockIsRefused() {
		assertThatExceptionOfType(InvalidLockDefinitionException.class).isThrownBy(() -> start((context) -> {
			context.registerBean(TransactionsOutside.class);
			context.registerBean(TransactionManager.class, () -> Mockito.mock());
			context.registerBean("sale", Sale.class);
		}, true))
			.withMessageContaining("the transactions of the bean 'sale' would begin before its lock is taken")
			.satisfies((ex) -> assertThat(ex.getAction()).contains("distributed-lock.advice-order"));
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
					() -> new DistributedLockAdvisor(definitions, () -> registry(locks)),
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
