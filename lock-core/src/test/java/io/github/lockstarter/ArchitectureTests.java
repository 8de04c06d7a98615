// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Timer;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaConstructor;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.VirtualThreadTaskExecutor;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rooms of the house and the doors between them.
 */
class ArchitectureTests {

	private static final String ROOT = "io.github.lockstarter";

	/** What each package may use of the others. */
	private static final Map<String, Set<String>> ROOMS = Map.of( //
			"", Set.of(), //
			".event", Set.of(""), //
			".backend", Set.of(""), //
			".engine", Set.of("", ".event", ".backend"), //
			".redis", Set.of("", ".backend"), //
			".memory", Set.of("", ".backend"), //
			".interceptor", Set.of(""), //
			".autoconfigure", Set.of("", ".event", ".backend", ".engine", ".redis", ".memory", ".interceptor"));

	/** Their constructors lead to threads; those that Spring has as well. */
	private static final List<Class<?>> OWNERS_OF_THREADS = List.of(Thread.class, ThreadPoolExecutor.class,
			ForkJoinPool.class, Timer.class, SimpleAsyncTaskExecutor.class, VirtualThreadTaskExecutor.class,
			ExecutorConfigurationSupport.class);

	private final JavaClasses classes = new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests())
		.importPackages(ROOT);

	@Test
	void packagesAreFreeOfCycles() {
		slices().matching("io.github.(**)")
			.should()
			.beFreeOfCycles()
			.because("what hangs together in a circle can be neither read nor moved alone")
			.check(this.classes);
	}

	@Test
	void everyPackageHasItsPlaceInTheTableOfRooms() {
		assertThat(packages()).containsExactlyInAnyOrderElementsOf(ROOMS.keySet());
	}

	@Test
	void packagesUseOnlyWhatTheTableOfRoomsAllows() {
		ROOMS.forEach((room, doors) -> {
			String[] others = ROOMS.keySet()
				.stream()
				.filter((other) -> !other.equals(room) && !doors.contains(other))
				.map(ROOT::concat)
				.toArray(String[]::new);
			noClasses().that()
				.resideInAPackage(ROOT + room)
				.should()
				.dependOnClassesThat()
				.resideInAnyPackage(others)
				.because("stores know nothing of waiting, the annotation nothing of the engine")
				.allowEmptyShould(others.length == 0)
				.check(this.classes);
		});
	}

	@Test
	void nothingDependsOnTheAutoConfiguration() {
		noClasses().that()
			.resideOutsideOfPackage(ROOT + ".autoconfigure")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage(ROOT + ".autoconfigure", "org.springframework.boot..")
			.because("the library works without Spring Boot")
			.check(this.classes);
	}

	@Test
	void everyPackageIsNullMarked() {
		assertThat(packages()).allSatisfy((name) -> {
			JavaPackage room = this.classes.getPackage(ROOT + name);
			assertThat(room.isAnnotatedWith(NullMarked.class)).as("package-info of %s", room.getName()).isTrue();
		});
	}

	@Test
	void autoConfigurationsAreFinalShellsWithoutPublicMembers() {
		classes().that()
			.areAnnotatedWith(AutoConfiguration.class)
			.should()
			.bePublic()
			.andShould()
			.haveModifier(com.tngtech.archunit.core.domain.JavaModifier.FINAL)
			.because("users exclude them by name and never call them")
			.check(this.classes);
		assertThat(this.classes.stream()
			.filter((type) -> type.isAnnotatedWith(AutoConfiguration.class))
			.flatMap((type) -> Arrays.stream(type.reflect().getDeclaredMethods()))
			.filter((method) -> java.lang.reflect.Modifier.isPublic(method.getModifiers()))).isEmpty();
	}

	@Test
	void driversStayInTheRoomOfTheirStore() {
		noClasses().that()
			.resideOutsideOfPackages(ROOT + ".redis", ROOT + ".autoconfigure")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("org.springframework.data..", "io.lettuce..", "redis.clients..")
			.because("an application without Redis must be able to load all other classes")
			.check(this.classes);
	}

	@Test
	void oneClassNeedsReactor() {
		noClasses().that()
			.doNotHaveFullyQualifiedName(ROOT + ".interceptor.ReactiveInvocationAdapter")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("reactor..", "org.reactivestreams..")
			.because("an application without Reactor must be able to load all other classes")
			.check(this.classes);
	}

	@Test
	void threadsAreStartedByTheEngineOnly() {
		noClasses().that()
			.resideOutsideOfPackage(ROOT + ".engine")
			// A driver connects and subscribes on a thread that blocks; both end with the
			// backend
			.and()
			.doNotHaveFullyQualifiedName(ROOT + ".redis.ConnectAttempts")
			.and()
			.doNotHaveFullyQualifiedName(ROOT + ".redis.RedisReleaseSignal")
			.should()
			.callCodeUnitWhere(startsThreads())
			.because("somebody has to end every thread that was started")
			.check(this.classes);
	}

	@Test
	void theRuleForThreadsSeesEveryWayToStartOne() {
		JavaClasses startingThreads = new ClassFileImporter().importClasses(StartingThreads.class);
		Set<Integer> seen = startingThreads.get(StartingThreads.class)
			.getCodeUnitCallsFromSelf()
			.stream()
			.filter(startsThreads())
			.map((call) -> call.getLineNumber())
			.collect(Collectors.toSet());
		assertThat(seen).hasSize(StartingThreads.WAYS);
	}

	/**
	 * Calls that begin a thread, or leave it to the JVM on which one something runs.
	 */
	private static DescribedPredicate<JavaCall<?>> startsThreads() {
		return DescribedPredicate.describe("starts threads", (call) -> {
			JavaClass type = call.getTargetOwner();
			boolean constructor = call.getName().equals(JavaConstructor.CONSTRUCTOR_NAME);
			boolean factory = type.isEquivalentTo(Thread.class)
					&& Set.of("ofVirtual", "ofPlatform", "startVirtualThread").contains(call.getName());
			boolean ownThreads = constructor && OWNERS_OF_THREADS.stream().anyMatch(type::isAssignableTo);
			boolean anyThread = type.isAssignableTo(CompletionStage.class) && call.getName().endsWith("Async")
					&& call.getTarget()
						.getRawParameterTypes()
						.stream()
						.noneMatch((parameter) -> parameter.isEquivalentTo(Executor.class));
			boolean commonPool = call.getName().equals("commonPool") || (call.getName().equals("delayedExecutor")
					&& call.getTarget().getRawParameterTypes().size() == 2);
			return factory || ownThreads || anyThread || commonPool || type.isEquivalentTo(Executors.class);
		});
	}

	/** Each way on a line of its own. Never called. */
	@SuppressWarnings("unused")
	private static final class StartingThreads {

		static final int WAYS = 14;

		void all(Runnable task) throws Exception {
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
		}

	}

	private Set<String> packages() {
		return this.classes.stream()
			.map(JavaClass::getPackageName)
			.flatMap(Stream::of)
			.map((name) -> name.substring(ROOT.length()))
			.collect(Collectors.toCollection(TreeSet::new));
	}

}
