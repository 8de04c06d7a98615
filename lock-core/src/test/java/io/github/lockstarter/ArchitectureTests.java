// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.Timer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
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
			.dependOnClassesThat(DescribedPredicate.not(resideInAnyPackage(ROOT + "..", "java..", "org.jspecify..",
					"org.apache.commons.logging", "org.springframework.aot.hint.annotation")))
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
