// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Mono;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.context.event.ApplicationEventMulticaster;
import org.springframework.context.event.SimpleApplicationEventMulticaster;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.Ordered;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.config.ScheduledTask;
import org.springframework.scheduling.config.ScheduledTaskHolder;
import org.springframework.util.ReflectionUtils;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.interceptor.InvalidLockDefinitionException;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.spring.EnableDistributedLocks;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.testsupport.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Ways in which Spring reaches a bean without its proxy: each ends the start, or the
 * creation of the bean, and none runs a body without its lock.
 */
@ExtendWith(CapturedLog.Extension.class)
class NeverUnlockedTests {

	@Test
	void aScheduledMethodOfABeanInACircleIsRefused() {
		assertThat(refused((context) -> context.register(Scheduling.class, Nightly.class, Report.class), (context) -> {
			for (ScheduledTask task : context.getBean(ScheduledTaskHolder.class).getScheduledTasks()) {
				task.getTask().getRunnable().run();
			}
		})).hasMessageContaining(
				"Nightly.run()': the bean 'neverUnlockedTests.Nightly' is in a circle of references, so"
						+ " @Scheduled calls the method without its lock");
	}

	@Test
	void aListenerInACircleIsRefused() {
		assertThat(refused((context) -> context.register(Queues.class, Listener.class, Report.class),
				(context) -> context.getBean(Queues.class).deliver()))
			.hasMessageContaining("Listener.receive()': the bean 'neverUnlockedTests.Listener' is in a circle of"
					+ " references, so @QueueListener calls the method without its lock");
	}

	@Test
	void aHandlerOfAListenerClassInACircleIsRefused() {
		assertThat(refused((context) -> context.register(Queues.class, ListenerClass.class, Report.class),
				(context) -> context.getBean(Queues.class).deliver()))
			.hasMessageContaining("ListenerClass.receive()': the bean 'neverUnlockedTests.ListenerClass' is in a circle"
					+ " of references, so @QueueHandler calls the method without its lock");
	}

	@Test
	void anyOtherBeanInACircleIsLockedAndWarnedOf(CapturedLog log) {
		start((context) -> context.registerBean("jobInCircle", JobInCircle.class), (context) -> {
			context.getBean(JobInCircle.class).run();
			context.getBean(JobInCircle.class).self().run();
		});
		assertThat(log).containsOnlyOnce("The bean 'jobInCircle' is in a circle of references").contains("@Lazy");
	}

	@Test
	void aBeanOfAChildContextWithoutLocksIsRefused() {
		start((context) -> {
		}, (parent) -> {
			assertThat(refused(child(parent, (child) -> child.register(Job.class)),
					(child) -> child.getBean(Job.class).run()))
				.hasMessageContaining("Job.run()'")
				.hasMessageContaining("@EnableDistributedLocks");
			assertThat(refused(
					child(parent,
							(child) -> child.registerBean(Job.class, (definition) -> definition.setLazyInit(true))),
					(child) -> child.getBean(Job.class).run()))
				.hasMessageContaining("Job.run()'");
			assertThat(refused(
					child(parent,
							(child) -> child.registerBean("lazy", Runnable.class, Job::new,
									(definition) -> definition.setLazyInit(true))),
					(child) -> child.getBean(Runnable.class).run()))
				.hasMessageContaining("Job.run()'");
		});
	}

	@Test
	void aChildContextIsRefusedThoughItsParentDeliversEventsLater() {
		start((context) -> context.registerBean("applicationEventMulticaster", ApplicationEventMulticaster.class,
				() -> {
					SimpleApplicationEventMulticaster multicaster = new SimpleApplicationEventMulticaster();
					multicaster.setTaskExecutor((task) -> {
					});
					return multicaster;
				}), (parent) -> assertThat(refused(child(parent, (child) -> child.register(Job.class)),
						(child) -> child.getBean(Job.class).run()))
					.hasMessageContaining("Job.run()'"));
	}

	@Test
	void aBeanOfAChildContextIsLockedByTheProxiesOfEither(CapturedLog log) {
		start((context) -> context.registerBean(LockSettings.class,
				() -> new LockSettings(Map.of("ofParent", LockSettings.ForName.NONE))), (parent) -> {
					run(child(parent, (child) -> child.register(Proxies.class, Job.class)),
							(child) -> child.getBean(Job.class).run());
					run(child(parent, (child) -> child.register(Locks.class, Job.class)),
							(child) -> child.getBean(Job.class).run());
				});
		assertThat(log).isEmpty();
	}

	@Test
	void aBeanOfAParentContextWithoutLocksIsRefused() {
		try (AnnotationConfigApplicationContext parent = new AnnotationConfigApplicationContext(Job.class)) {
			assertThat(refused(child(parent, (child) -> child.register(Locks.class)),
					(child) -> child.getBean(Job.class).run()))
				.hasMessageContaining("Job.run()'")
				.hasMessageContaining("@EnableDistributedLocks");
		}
	}

	@Test
	void theAnnotationOfAMethodThatCreatesABeanIsRefused() {
		assertThat(refused((context) -> context.register(Functions.class),
				(context) -> context.getBean(Functions.class).upper().apply("text")))
			.hasMessageContaining("Functions.upper()': the lock has no effect on a method with @Bean");
	}

	@Test
	void aPrototypeThatAnEarlyPostProcessorGetsIsRefused() {
		assertThat(refused((context) -> {
			context.register(EarlyPostProcessor.class);
			context.registerBean(Job.class, (definition) -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE));
		}, (context) -> context.getBean(EarlyPostProcessor.class).job.run())).hasMessageContaining("Job.run()'")
			.hasMessageContaining("post-processor");
	}

	@Test
	void aPrototypeThatALatePostProcessorGetsIsLocked() {
		start((context) -> {
			context.register(LatePostProcessor.class);
			context.registerBean(Job.class, (definition) -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE));
		}, (context) -> context.getBean(LatePostProcessor.class).job.run());
	}

	@Test
	@SuppressWarnings("unchecked")
	void aMethodThatKnowsNothingOfItsGenericInterfaceIsLocked() {
		start((context) -> context.register(TextImport.class, RowImport.class), (context) -> {
			((Import<String>) context.getBean(TextImport.class)).run("row");
			context.getBean(TextImport.class).run("row");
			((ImportOfRows) context.getBean(RowImport.class)).run("row");
			context.getBean(RowImport.class).run("row");
		});
	}

	@Test
	void aBeanThatIsReplacedBeforeItHasAProxyIsRefused() {
		assertReplacementIsRefused(Replacing.class);
		assertReplacementIsRefused(ReplacingFirst.class);
	}

	private static void assertReplacementIsRefused(Class<?> postProcessor) {
		assertThat(refused((context) -> context.register(postProcessor, Job.class),
				(context) -> context.getBean(Runnable.class).run()))
			.hasMessageContaining("Job.run()': a bean post-processor replaces the bean 'neverUnlockedTests.Job'");
	}

	@Test
	void aBeanThatIsReplacedWhenItHasAProxyIsLocked() {
		start((context) -> context.register(ReplacingLater.class, Job.class),
				(context) -> context.getBean(Runnable.class).run());
	}

	@Test
	void aBeanThatIsReplacedByOneWithTheAnnotationIsLocked() {
		start((context) -> {
			context.registerBean(Replacing.class, () -> new Replacing((bean) -> new Job()));
			context.register(Job.class);
		}, (context) -> context.getBean(Job.class).run());
	}

	@Test
	void aResultOfAnyTypeBehindWhichWorkContinuesIsRefused() {
		start((context) -> context.register(AnyResult.class), (context) -> {
			AnyResult bean = context.getBean(AnyResult.class);
			for (Object result : List.of(new CompletableFuture<>(), Mono.just("work"), Stream.of("work"))) {
				assertThatIllegalStateException().isThrownBy(() -> bean.run(result))
					.withMessageContaining(
							"lock 'NeverUnlockedTests.AnyResult.run' has returned a " + result.getClass().getName())
					.withMessageContaining("as the return type of the annotated method");
				assertThatIllegalStateException().isThrownBy(() -> bean.runGeneric(result));
			}
			assertThat(bean.run(CompletableFuture.completedFuture("done"))).isNotNull();
			assertThat(bean.runGeneric("done")).isEqualTo("done");
		});
	}

	/** Return how a context, or the creation of a bean, is refused. */
	private static Throwable refused(Consumer<AnnotationConfigApplicationContext> beans,
			Consumer<AnnotationConfigApplicationContext> use) {
		Throwable thrown = catchThrowable(() -> start(beans, use));
		return refusal(thrown);
	}

	private static Throwable refused(AnnotationConfigApplicationContext child,
			Consumer<AnnotationConfigApplicationContext> use) {
		return refusal(catchThrowable(() -> run(child, use)));
	}

	private static Throwable refusal(@Nullable Throwable thrown) {
		assertThat(thrown).isNotNull();
		Throwable cause = NestedExceptionUtils.getMostSpecificCause(thrown);
		SafetyViolation.check(!(cause instanceof SafetyViolation), "the start succeeds, and %s", cause.getMessage());
		assertThat(cause).isInstanceOf(InvalidLockDefinitionException.class);
		return cause;
	}

	private static void start(Consumer<AnnotationConfigApplicationContext> beans,
			Consumer<AnnotationConfigApplicationContext> use) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		context.register(Locks.class);
		beans.accept(context);
		run(context, use);
	}

	private static AnnotationConfigApplicationContext child(AnnotationConfigApplicationContext parent,
			Consumer<AnnotationConfigApplicationContext> beans) {
		AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext();
		child.setParent(parent);
		beans.accept(child);
		return child;
	}

	private static void run(AnnotationConfigApplicationContext context,
			Consumer<AnnotationConfigApplicationContext> use) {
		try (context) {
			context.refresh();
			use.accept(context);
		}
	}

	private static void requireLock() {
		try {
			Lease.current();
		}
		catch (IllegalStateException ex) {
			throw new SafetyViolation("the body runs without its lock");
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAspectJAutoProxy(proxyTargetClass = true)
	@EnableDistributedLocks
	static class Locks {

		@Bean
		LockStore lockStore() {
			return new MemoryLockStore();
		}

	}

	static class Job implements Runnable {

		@Override
		@DistributedLock
		public void run() {
			requireLock();
		}

	}

	@EnableScheduling
	static class Scheduling {

	}

	static class Nightly {

		@Autowired
		@Nullable Report report;

		@Scheduled(cron = "0 0 3 * * *")
		@DistributedLock
		public void run() {
			requireLock();
		}

	}

	static class Report {

		@Autowired(required = false)
		@Nullable Nightly nightly;

		@Autowired(required = false)
		@Nullable Listener listener;

		@Autowired(required = false)
		@Nullable ListenerClass listenerClass;

	}

	@Retention(RetentionPolicy.RUNTIME)
	@interface QueueListener {

	}

	static class Listener {

		@Autowired
		@Nullable Report report;

		@QueueListener
		@DistributedLock
		public void receive() {
			requireLock();
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@interface QueueHandler {

	}

	@QueueListener
	static class ListenerClass {

		@Autowired
		@Nullable Report report;

		@QueueHandler
		@DistributedLock
		public void receive() {
			requireLock();
		}

	}

	/** Finds listeners as those for JMS or Kafka do. */
	static class Queues implements BeanPostProcessor {

		private final List<Runnable> listeners = new ArrayList<>();

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			Class<?> type = AopUtils.getTargetClass(bean);
			for (Method method : ReflectionUtils.getAllDeclaredMethods(type)) {
				if (method.isAnnotationPresent(QueueListener.class) || (type.isAnnotationPresent(QueueListener.class)
						&& method.isAnnotationPresent(QueueHandler.class))) {
					ReflectionUtils.makeAccessible(method);
					this.listeners.add(() -> ReflectionUtils.invokeMethod(method, bean));
				}
			}
			return bean;
		}

		void deliver() {
			this.listeners.forEach(Runnable::run);
		}

	}

	static class JobInCircle {

		@Autowired
		@Nullable JobInCircle self;

		@DistributedLock
		public void run() {
			requireLock();
		}

		JobInCircle self() {
			assertThat(this.self).isNotNull();
			return this.self;
		}

	}

	@EnableAspectJAutoProxy(proxyTargetClass = true)
	static class Proxies {

	}

	@Configuration
	static class Functions {

		@Bean
		@DistributedLock
		public Function<String, String> upper() {
			return (text) -> {
				requireLock();
				return text.toUpperCase(Locale.ROOT);
			};
		}

	}

	static class EarlyPostProcessor implements BeanPostProcessor, Ordered {

		final Job job;

		EarlyPostProcessor(Job job) {
			this.job = job;
		}

		@Override
		public int getOrder() {
			return 0;
		}

	}

	/** As one that measures calls, or decorates beans, in another way than by a proxy. */
	static class Replacing implements BeanPostProcessor {

		private final UnaryOperator<Object> replacement;

		Replacing() {
			this((bean) -> {
				Runnable replaced = (Runnable) bean;
				return (Runnable) () -> replaced.run();
			});
		}

		Replacing(UnaryOperator<Object> replacement) {
			this.replacement = replacement;
		}

		@Override
		public Object postProcessBeforeInitialization(Object bean, String beanName) {
			return (bean instanceof Job) ? this.replacement.apply(bean) : bean;
		}

	}

	static class ReplacingLater implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return new Replacing().postProcessBeforeInitialization(bean, beanName);
		}

	}

	/** Comes before the processor that creates proxies. */
	static class ReplacingFirst extends ReplacingLater implements PriorityOrdered {

		@Override
		public int getOrder() {
			return LOWEST_PRECEDENCE;
		}

	}

	static class AnyResult {

		@DistributedLock
		public Object run(Object result) {
			return result;
		}

		@DistributedLock
		public <T> T runGeneric(T result) {
			return result;
		}

	}

	interface Import<T> {

		@DistributedLock(name = "import", key = "#p0")
		void run(T row);

	}

	interface ImportOfRows {

		@DistributedLock(name = "import", key = "#p0")
		void run(String row);

	}

	static class TextJob {

		public void run(String row) {
			requireLock();
		}

	}

	static class TextImport extends TextJob implements Import<String> {

	}

	static class RowJob<T> {

		public void run(T row) {
			requireLock();
		}

	}

	static class RowImport extends RowJob<String> implements ImportOfRows {

	}

	static class LatePostProcessor implements BeanPostProcessor {

		final Job job;

		LatePostProcessor(Job job) {
			this.job = job;
		}

	}

}
