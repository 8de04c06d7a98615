// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.aspectj.AnnotationTransactionAspect;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.aspectj.DistributedLockAspect;
import io.github.lockstarter.aspectj.DistributedLockWeaving;
import io.github.lockstarter.interceptor.InvalidLockDefinitionException;
import io.github.lockstarter.interceptor.LockDefinitionSource;
import io.github.lockstarter.testsupport.AspectJCompiler;
import io.github.lockstarter.testsupport.FullProfileOnly;
import io.github.lockstarter.testsupport.WeavingClassLoader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

@FullProfileOnly
class WovenBeansTests {

	private static final String SALE = """
			import io.github.lockstarter.DistributedLock;
			import org.springframework.transaction.annotation.Transactional;

			public class Sale implements Runnable {

				public void run() {
					sell(7);
				}

				@Transactional
				@DistributedLock(name = "sale", key = "#id")
				private void sell(long id) {
				}

			}
			""";

	@ParameterizedTest
	@ValueSource(classes = { Everything.class, OfClass.class, InheritedMethod.class, TransactionToo.class })
	void wovenBeansStart(Class<?> type) {
		Class<?> woven = load(WeavingClassLoader.withAllAspects(Everything.class, OfClass.class, InheritedMethod.class,
				TransactionToo.class), type);
		start((context) -> {
			context.registerBean(woven);
			context.registerBean("lazy", woven, (definition) -> definition.setLazyInit(true));
			context.registerBean("prototype", woven,
					(definition) -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE));
		});
	}

	@ParameterizedTest
	@ValueSource(classes = { Everything.class, OfClass.class, InheritedMethod.class, TransactionToo.class })
	void aClassThatIsNotWovenIsRefused(Class<?> type) {
		assertThat(failure((context) -> context.registerBean(type)))
			.hasMessageMatching(
					".* the class .* is not woven with the aspect, so the method would run without a lock\\. .*")
			.satisfies((ex) -> assertThat(ex.getAction()).contains("-javaagent")
				.contains("aspect library")
				.contains("distributed-lock.advice-mode=proxy"));
	}

	@Test
	void lazyBeansAndPrototypesAreCheckedAtTheStart() {
		failure((context) -> context.registerBean(Everything.class, (definition) -> definition.setLazyInit(true)));
		failure((context) -> context.registerBean(Everything.class,
				(definition) -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE)));
	}

	@Test
	void aBeanWhoseDeclaredTypeSaysLessIsCheckedWhenItIsCreated() {
		Throwable thrown = catchThrowable(() -> start((context) -> context.registerBean("lazy", Object.class,
				Everything::new, (definition) -> definition.setLazyInit(true)), (context) -> context.getBean("lazy")));
		assertThat(thrown).hasRootCauseInstanceOf(InvalidLockDefinitionException.class);
	}

	@ParameterizedTest
	@ValueSource(classes = { OnInterface.class, OnOverriddenMethod.class, OnInterfaceOfClass.class })
	void anAnnotationThatTheAspectDoesNotSeeIsRefused(Class<?> type) {
		Class<?> woven = load(WeavingClassLoader.withAllAspects(type, Everything.class), type);
		assertThat(failure((context) -> context.registerBean(woven))).hasMessageContaining("is not woven")
			.satisfies((ex) -> assertThat(ex.getAction()).contains("AspectJ does not see it on an interface"));
	}

	@ParameterizedTest
	@ValueSource(classes = { ThriceAway.class, RepeatedThriceAway.class, ThriceAwayOnClass.class,
			ThriceAwayBesideClass.class })
	void anAnnotationThatIsTooFarAwayForTheAspectIsRefused(Class<?> type) {
		Class<?> woven = load(WeavingClassLoader.withAllAspects(type), type);
		assertThat(failure((context) -> context.registerBean(woven))).hasMessageContaining("far()'")
			.hasMessageContaining("is not woven")
			.satisfies((ex) -> assertThat(ex.getAction()).contains("at most two meta-annotations away"));
	}

	@ParameterizedTest
	@ValueSource(classes = { TwiceAway.class, TwiceAwayOnClass.class })
	void anAnnotationMayBeTwoMetaAnnotationsAway(Class<?> type) {
		Class<?> woven = load(WeavingClassLoader.withAllAspects(type), type);
		start((context) -> context.registerBean(woven));
	}

	@Test
	void anInterfaceBehindAProxyIsRefused() {
		Locked proxy = ProxyFactory.getProxy(Locked.class, (MethodInterceptor) (invocation) -> null);
		assertThat(failure((context) -> context.registerBean(Locked.class, () -> proxy)))
			.hasMessageContaining("Locked.run()': the class ")
			.hasMessageContaining("is not woven");
	}

	@Test
	void aStaticMethodIsRefused() {
		Class<?> woven = WeavingClassLoader.of(StaticMethod.class).woven(StaticMethod.class);
		assertThat(failure((context) -> context.registerBean(woven))).hasMessageContaining("the method is static");
	}

	@Test
	void aMockHasNothingToLock() {
		start((context) -> {
			context.registerBean("sale", Everything.class);
			context.getBeanFactory().registerSingleton("sale", Mockito.mock(Everything.class));
		});
	}

	@Test
	void aClassThatTheCompilerOfAspectJHasWovenIsLocked(@TempDir Path folder) throws Exception {
		Class<?> sale = AspectJCompiler.compile(folder, "Sale", SALE,
				List.of(DistributedLockAspect.class, AnnotationTransactionAspect.class));
		LockRegistry registry = Mockito.mock();
		Mockito.when(registry.acquire(Mockito.any())).thenReturn(Mockito.mock(Lease.class));
		start((context) -> context.registerBean("sale", sale), (context) -> {
			DistributedLockWeaving weaving = DistributedLockWeaving
				.locking(new LockDefinitionSource(context.getBeanFactory()), (name) -> registry);
			weaving.postProcessBeanFactory(context.getBeanFactory());
			context.getBean("sale", Runnable.class).run();
			weaving.destroy();
		});
		Mockito.verify(registry).acquire(LockRequest.of(LockKey.of("sale", 7)));
	}

	/** A failed creation of the bean may wrap the exception. */
	private static InvalidLockDefinitionException failure(Consumer<GenericApplicationContext> beans) {
		Throwable cause = NestedExceptionUtils.getMostSpecificCause(catchThrowable(() -> start(beans)));
		assertThat(cause).isInstanceOf(InvalidLockDefinitionException.class);
		return (InvalidLockDefinitionException) cause;
	}

	private static Class<?> load(WeavingClassLoader loader, Class<?> type) {
		return loader.woven(type);
	}

	private static void start(Consumer<GenericApplicationContext> beans) {
		start(beans, (context) -> {
		});
	}

	private static void start(Consumer<GenericApplicationContext> beans, Consumer<GenericApplicationContext> use) {
		try (GenericApplicationContext context = new GenericApplicationContext()) {
			LockDefinitionSource definitions = new LockDefinitionSource(context.getBeanFactory());
			context.registerBean(LockDefinitionValidator.class,
					() -> new LockDefinitionValidator(definitions, context.getBeanFactory(), AdviceMode.ASPECTJ));
			beans.accept(context);
			context.refresh();
			use.accept(context);
		}
	}

	public static class Everything {

		@DistributedLock(key = "#id")
		public Optional<String> run(long id) {
			return Optional.empty();
		}

		@DistributedLock
		private void privately() {
		}

		@DistributedLock
		public final void finallyLocked() {
		}

	}

	@DistributedLock
	public static class OfClass {

		public final void run() {
		}

		void inPackage() {
		}

	}

	public static class InheritedMethod extends Everything {

	}

	public static class TransactionToo {

		@Transactional
		@DistributedLock
		public void run() {
		}

	}

	public interface Locked {

		@DistributedLock
		void run();

	}

	public static class OnInterface implements Locked {

		@Override
		@Transactional
		public void run() {
		}

	}

	public static class OnOverriddenMethod extends Everything {

		@Override
		@Transactional
		public Optional<String> run(long id) {
			return Optional.empty();
		}

	}

	@DistributedLock
	public interface LockedAsAWhole {

		void run();

	}

	public static class OnInterfaceOfClass implements LockedAsAWhole {

		@Override
		@Transactional
		public void run() {
		}

	}

	public static class StaticMethod {

		@DistributedLock
		public static void run() {
		}

	}

	@DistributedLock
	@Retention(RetentionPolicy.RUNTIME)
	public @interface Once {

	}

	@Once
	@Retention(RetentionPolicy.RUNTIME)
	public @interface Twice {

	}

	@Twice
	@Retention(RetentionPolicy.RUNTIME)
	public @interface Thrice {

	}

	@DistributedLock(name = "one")
	@DistributedLock(name = "other")
	@Retention(RetentionPolicy.RUNTIME)
	public @interface Both {

	}

	@Both
	@Retention(RetentionPolicy.RUNTIME)
	public @interface BothTwice {

	}

	@BothTwice
	@Retention(RetentionPolicy.RUNTIME)
	public @interface BothThrice {

	}

	public static class TwiceAway {

		@Twice
		public void run() {
		}

		@BothTwice
		public void runBoth() {
		}

	}

	@Twice
	public static class TwiceAwayOnClass {

		public void run() {
		}

	}

	public static class ThriceAway {

		@Thrice
		public void far() {
		}

		@DistributedLock
		private void near() {
		}

	}

	public static class RepeatedThriceAway {

		@BothThrice
		public void far() {
		}

		@DistributedLock
		private void near() {
		}

	}

	@Thrice
	public static class ThriceAwayOnClass {

		public void far() {
		}

		@DistributedLock
		private void near() {
		}

	}

	@DistributedLock
	public static class ThriceAwayBesideClass {

		@Thrice
		void far() {
		}

		public void near() {
		}

	}

}
