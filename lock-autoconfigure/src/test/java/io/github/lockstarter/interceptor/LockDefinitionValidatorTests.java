// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.util.function.Consumer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.InvalidLockDefinitionException;
import io.github.lockstarter.LockRegistry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

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

	private static void start(Consumer<GenericApplicationContext> beans, boolean proxies) {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			if (proxies) {
				AopConfigUtils.registerAutoProxyCreatorIfNecessary(context);
				AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(context);
			}
			LockDefinitionSource definitions = new LockDefinitionSource(context.getBeanFactory());
			context.registerBean(DistributedLockAdvisor.class,
					() -> new DistributedLockAdvisor(definitions, () -> context.getBean(LockRegistry.class)),
					(definition) -> definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE));
			context.registerBean(LockDefinitionValidator.class,
					() -> new LockDefinitionValidator(definitions, context.getBeanFactory()));
			beans.accept(context);
			context.refresh();
		}
	}

	static class Valid {

		@DistributedLock(key = "#id")
		public void run(long id) {
		}

		@DistributedLock
		void inPackage() {
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

}
