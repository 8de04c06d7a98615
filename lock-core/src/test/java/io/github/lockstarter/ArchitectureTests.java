// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.Timer;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.VirtualThreadTaskExecutor;

import io.github.lockstarter.testsupport.AbstractArchitectureTests;
import io.github.lockstarter.testsupport.StartedThreads;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rooms of the core.
 */
class ArchitectureTests extends AbstractArchitectureTests {

	private static final Map<String, Set<String>> ROOMS = Map.of( //
			"", Set.of(), //
			".event", Set.of(""), //
			".store", Set.of(""), //
			".engine", Set.of("", ".event", ".store"), //
			".memory", Set.of("", ".store"));

	/** Besides the real time: the base of fencing tokens only grows. */
	private static final Set<String> REAL_TIME = Set.of("engine.SystemTime: nanoTime", "engine.SystemTime: park",
			"engine.SystemTime: parkNanos", "engine.SystemTime: unpark", "memory.LockMemory: nanoTime",
			"memory.LockMemory: now");

	private static final Set<String> REQUESTS = Set.of("StoreGateway: connect", "StoreGateway: listen",
			"StoreGateway: acquire", "StoreGateway: release", "StoreGateway: enter", "StoreGateway: withdraw",
			"LeaseWatchdog: renew", "Orphans: release", "Orphans: keep", "HoldInspection: inspect",
			"HoldInspection: free");

	private static final String CONTEXTS = ROOT + ".engine.MicrometerCallContext";

	ArchitectureTests() {
		super(ROOMS);
	}

	/** The contracts of lock-test are among the tests of the core. */
	@Override
	protected Path[] testSources() {
		return new Path[] { Path.of("src", "test", "java"), Path.of("..", "lock-test", "src", "main", "java") };
	}

	@Test
	void theCoreNeedsOnlyTheJdkNullnessAndALog() {
		noClasses().that()
			.doNotHaveFullyQualifiedName(CONTEXTS)
			.should()
			.dependOnClassesThat(DescribedPredicate.not(resideInAnyPackage(ROOT + "..", "java..", "javax.sql",
					"org.jspecify..", "org.apache.commons.logging", "org.springframework.aot.hint.annotation")))
			.because("locks work in any program; the JVM ignores annotations without their classes")
			.check(this.classes);
	}

	@Test
	void oneClassNeedsMicrometer() {
		noClasses().that()
			.haveFullyQualifiedName(CONTEXTS)
			.should()
			.dependOnClassesThat(DescribedPredicate
				.not(resideInAnyPackage(ROOT + "..", "java..", "org.jspecify..", "io.micrometer.context")))
			.because("a program without Micrometer must be able to load all other classes")
			.check(this.classes);
	}

	/** Types that all reach each other can only be understood together. */
	@Test
	void noPackageHasAKnotOfMoreThanFiveTypes() {
		Map<String, Set<String>> uses = new TreeMap<>();
		for (JavaClass type : this.classes) {
			for (Dependency each : type.getDirectDependenciesFromSelf()) {
				if (each.getTargetClass().getPackageName().equals(type.getPackageName())) {
					uses.computeIfAbsent(topLevel(type), (name) -> new TreeSet<>())
						.add(topLevel(each.getTargetClass()));
				}
			}
		}
		Map<String, Set<String>> reached = new TreeMap<>();
		uses.keySet().forEach((type) -> reach(type, uses, reached.computeIfAbsent(type, (name) -> new TreeSet<>())));
		assertThat(reached.keySet()).allSatisfy((type) -> assertThat(
				reached.get(type).stream().filter((other) -> reached.getOrDefault(other, Set.of()).contains(type)))
			.as("types that reach %s and are reached from it", type)
			.hasSizeLessThanOrEqualTo(5));
	}

	private static void reach(String type, Map<String, Set<String>> uses, Set<String> reached) {
		for (String used : uses.getOrDefault(type, Set.of())) {
			if (reached.add(used)) {
				reach(used, uses, reached);
			}
		}
	}

	private static String topLevel(JavaClass type) {
		return type.getName().replaceAll("\\$.*", "");
	}

	/**
	 * Each of them bounds its requests, and none of them calls the store under a guard.
	 * People and tools bound their own.
	 */
	@Test
	void onlyTheGatewayTheWatchdogAndTheOrphansAskTheStore() {
		assertThat(this.classes.stream()
			.filter((type) -> type.getPackageName().equals(ROOT + ".engine"))
			.flatMap((type) -> type.getAccessesFromSelf().stream())
			.filter(ArchitectureTests::isRequest)
			.map((access) -> access.getOriginOwner().getSimpleName() + ": " + access.getName())
			.distinct()).containsExactlyInAnyOrderElementsOf(REQUESTS);
	}

	private static boolean isRequest(JavaAccess<?> access) {
		return access instanceof JavaCodeUnitAccess<?> call
				&& call.getTargetOwner().getPackageName().equals(ROOT + ".store")
				&& (call.getTarget().getRawReturnType().isEquivalentTo(CompletionStage.class)
						|| Set.of("renew", "listen").contains(call.getName()));
	}

	/** Otherwise its tests could only wait. */
	@Test
	void theCoreTakesTheTimeOfItsRegistry() {
		assertThat(this.classes.stream()
			.flatMap((type) -> type.getAccessesFromSelf().stream())
			.filter(ArchitectureTests::isRealTime)
			.map((access) -> access.getOriginOwner().getName().substring(ROOT.length() + 1) + ": " + access.getName())
			.distinct()).containsExactlyInAnyOrderElementsOf(REAL_TIME);
	}

	@Test
	void theRuleForTimeSeesEveryWayToUseIt() {
		JavaClass usingTime = new ClassFileImporter().importClasses(UsingTime.class).get(UsingTime.class);
		assertThat(usingTime.getAccessesFromSelf()
			.stream()
			.filter(ArchitectureTests::isRealTime)
			.map((access) -> access.getLineNumber())
			.distinct()).hasSize(UsingTime.WAYS);
	}

	private static boolean isRealTime(JavaAccess<?> access) {
		return access instanceof JavaCodeUnitAccess<?> call && isRealTime(call);
	}

	private static boolean isRealTime(JavaCodeUnitAccess<?> access) {
		JavaClass type = access.getTargetOwner();
		String name = access.getName();
		boolean timed = access.getTarget()
			.getRawParameterTypes()
			.stream()
			.anyMatch((each) -> each.isEquivalentTo(TimeUnit.class));
		boolean limited = timed && (type.isAssignableTo(Future.class) || type.isAssignableTo(Condition.class)
				|| type.isAssignableTo(ReentrantLock.class) || type.isAssignableTo(CountDownLatch.class)
				|| type.isAssignableTo(BlockingQueue.class) || name.equals("delayedExecutor"));
		return limited || type.isEquivalentTo(LockSupport.class) || type.isEquivalentTo(Clock.class)
				|| Set.of("nanoTime", "currentTimeMillis", "sleep", "awaitNanos", "awaitUntil").contains(name)
				|| (name.equals("wait") && type.isEquivalentTo(Object.class))
				|| (name.equals("now") && type.getPackageName().equals("java.time"));
	}

	/** Each way to use real time, on a line of its own. Never called. */
	@SuppressWarnings("unused")
	@Tag("clock")
	private static final class UsingTime {

		static final int WAYS = 17;

		void all(CompletableFuture<Void> future, Condition condition, ReentrantLock lock, BlockingQueue<Object> queue,
				CountDownLatch latch) throws Exception {
			System.nanoTime();
			System.currentTimeMillis();
			Thread.sleep(1);
			TimeUnit.SECONDS.sleep(1);
			LockSupport.park();
			LockSupport.parkNanos(this, 1);
			LockSupport.unpark(null);
			Instant.now();
			condition.awaitNanos(1);
			condition.await(20, TimeUnit.SECONDS);
			lock.tryLock(20, TimeUnit.SECONDS);
			queue.poll(20, TimeUnit.SECONDS);
			latch.await(20, TimeUnit.SECONDS);
			future.orTimeout(20, TimeUnit.SECONDS);
			future.completeOnTimeout(null, 20, TimeUnit.SECONDS);
			CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS, Runnable::run);
			LongSupplier clock = System::nanoTime;
		}

	}

	@Test
	void theRuleForThreadsSeesEveryWayToStartOne() {
		JavaClasses startingThreads = new ClassFileImporter().importClasses(StartingThreads.class);
		Set<Integer> seen = startingThreads.get(StartingThreads.class)
			.getAccessesFromSelf()
			.stream()
			.filter(StartedThreads.by())
			.map((access) -> access.getLineNumber())
			.collect(Collectors.toSet());
		assertThat(seen).hasSize(StartingThreads.WAYS);
	}

	/** Each way to start a thread, on a line of its own. Never called. */
	@SuppressWarnings("unused")
	private static final class StartingThreads {

		static final int WAYS = 20;

		void all(Runnable task, ThreadFactory factory, Thread thread) throws Exception {
			new Thread(task);
			new Thread("name");
			new Thread(null, task, "name");
			new Thread();
			Executors.newCachedThreadPool();
			new ThreadPoolExecutor(0, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
			new ScheduledThreadPoolExecutor(1);
			new ForkJoinPool();
			ForkJoinPool.commonPool();
			CompletableFuture.runAsync(task);
			new CompletableFuture<Void>().thenRunAsync(task);
			new Timer();
			new SimpleAsyncTaskExecutor();
			new VirtualThreadTaskExecutor();
			factory.newThread(task);
			thread.start();
			Function<Runnable, Thread> constructor = Thread::new;
			Supplier<ExecutorService> method = Executors::newCachedThreadPool;
			Function<Runnable, Thread> bound = factory::newThread;
			Runnable start = thread::start;
		}

	}

}
