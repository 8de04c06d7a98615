// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The rule about time sees every way to break it. The examples are never run.
 */
class ClockRuleTests {

	@Test
	void codeWithoutTheTagUsesNoRealTime() {
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> rule(Unmarked.class).realTimeIsMarked())
			.satisfies((failure) -> assertNamesAll(failure, Unmarked.class));
	}

	@Test
	void codeWithoutTheTagMayUseLongAndManualTimes() {
		rule(Allowed.class).realTimeIsMarked();
	}

	@Test
	void whatCannotBeReadIsNotAllowed() {
		AbstractClockRuleTests rule = new AbstractClockRuleTests(new ClassFileImporter().importClasses(Allowed.class)) {

			@Override
			protected Path[] testSources() {
				return new Path[] { Path.of("src", "gone") };
			}

		};
		assertThatExceptionOfType(AssertionError.class).isThrownBy(rule::realTimeIsMarked)
			.withMessageContaining(".aSecond()>");
	}

	@Test
	void codeWithTheTagUsesRealTime() {
		rule(Marked.class).realTimeIsMarked();
	}

	@Test
	void noCodeHasAnUpperBoundOnElapsedTime() {
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> rule(Marked.class).noTestHasAnUpperBoundOnTime())
			.satisfies((failure) -> assertNamesAll(failure, Marked.class));
	}

	@Test
	void aLowerBoundAnOrderAndExactTimesAreAllowed() {
		rule(Allowed.class).noTestHasAnUpperBoundOnTime();
	}

	@ParameterizedTest
	@ValueSource(classes = { TimedOut.class, WithOneTimeout.class, WithOwnTimeout.class })
	void noCodeHasATimeout(Class<?> example) {
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> rule(example).noTestHasAnUpperBoundOnTime());
	}

	@Test
	void noClassClosesWhatItsSecondRunNeeds() {
		rule(Allowed.class).whatIsClosedAfterAllTestsIsOpenedBeforeAllTests();
		AbstractClockRuleTests rule = rule(OpenedOnce.class);
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(rule::whatIsClosedAfterAllTestsIsOpenedBeforeAllTests)
			.withMessageContaining(".server");
	}

	private static AbstractClockRuleTests rule(Class<?> example) {
		return new AbstractClockRuleTests(new ClassFileImporter().importClasses(example, OnlyInTagged.class)) {
		};
	}

	private static void assertNamesAll(AssertionError failure, Class<?> example) {
		assertThat(example.getDeclaredMethods()).filteredOn((method) -> !method.isSynthetic())
			.allSatisfy((method) -> assertThat(failure.getMessage()).contains("." + method.getName() + "("));
	}

	@SuppressWarnings("unused")
	private static final class Unmarked {

		private final ManualTime time = new ManualTime();

		void sleeps() throws InterruptedException {
			Thread.sleep(1);
		}

		Runnable sleepsInALambda() {
			return () -> {
				try {
					Thread.sleep(1);
				}
				catch (InterruptedException ex) {
					throw new IllegalStateException(ex);
				}
			};
		}

		void sleepsByUnit() throws InterruptedException {
			TimeUnit.SECONDS.sleep(1);
		}

		ConditionFactory sleepsBeforeItLooks() {
			return Awaitility.await().pollDelay(Duration.ofSeconds(2));
		}

		ConditionFactory looksForAWhile() {
			return Awaitility.await().during(Duration.ofSeconds(2));
		}

		ConditionFactory successComesNotBefore() {
			return Awaitility.await().atLeast(Duration.ofSeconds(2));
		}

		void schedules(ScheduledExecutorService executor) {
			executor.schedule(() -> {
			}, 1, TimeUnit.SECONDS);
		}

		void schedulesWithATimer(Timer timer, TimerTask task) {
			timer.schedule(task, 1);
		}

		void joins(Thread thread) throws InterruptedException {
			thread.join(1);
		}

		synchronized void waits() throws InterruptedException {
			wait(1);
		}

		Executor runsLater() {
			return CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS);
		}

		long reads() {
			return System.nanoTime();
		}

		LongSupplier refers() {
			return System::currentTimeMillis;
		}

		void parks() {
			LockSupport.parkNanos(1);
		}

		Duration shortTime() {
			return Duration.ofMillis(999);
		}

		Duration[] shortTimeBesideALongOne() {
			return new Duration[] { Duration.ofMillis(1000), Duration.ofMillis(50) };
		}

		Duration unknownTime(long millis) {
			return Duration.ofMillis(millis);
		}

		LongFunction<Duration> shortTimeByReference() {
			return Duration::ofMillis;
		}

		boolean shortUnit(Lock lock) throws InterruptedException {
			return lock.tryLock(50, TimeUnit.MILLISECONDS);
		}

		long calls() {
			return OnlyInTagged.elapsed();
		}

	}

	@SuppressWarnings("unused")
	private static final class Allowed {

		@AutoClose
		private static AutoCloseable server;

		private final ManualTime time = new ManualTime();

		@BeforeAll
		static void open() {
			server = () -> {
			};
		}

		Duration aSecond() {
			return Duration.ofMillis(1000);
		}

		long conversion() {
			return TimeUnit.MILLISECONDS.toNanos(50);
		}

		ConditionFactory looksAtOnce() {
			return Awaitility.await().pollDelay(Duration.ZERO);
		}

		void manualTime() {
			long start = this.time.now();
			this.time.advance(Duration.ofMillis(50));
			assertThat(Duration.ofNanos(this.time.now() - start)).isLessThanOrEqualTo(Duration.ofMillis(50));
		}

		@Tag("clock")
		void aLowerBound() {
			assertThat(System.nanoTime()).isGreaterThan(1L);
		}

		void patience(CompletableFuture<?> future, CountDownLatch latch) throws InterruptedException {
			assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
			assertThat(future).succeedsWithin(Duration.ofSeconds(20));
		}

	}

	@Tag("clock")
	private static final class OnlyInTagged {

		static long elapsed() {
			return System.nanoTime();
		}

	}

	@SuppressWarnings("unused")
	@Tag("clock")
	private static final class Marked {

		private final ManualTime time = new ManualTime();

		void aDuration(Duration elapsed) {
			assertThat(elapsed).isLessThan(Duration.ofSeconds(1));
		}

		void nanoseconds() {
			assertThat(System.nanoTime()).isBetween(1L, 2L);
		}

		void nanosecondsOfAHelper() {
			assertThat(OnlyInTagged.elapsed()).isLessThan(2L);
		}

		void milliseconds() {
			assertThat((int) System.currentTimeMillis()).isLessThanOrEqualTo(2);
		}

		void aTimeout() {
			Assertions.assertTimeout(Duration.ofSeconds(1), () -> {
			});
		}

		void aPreemptiveTimeout() {
			Assertions.assertTimeoutPreemptively(Duration.ofSeconds(1), () -> {
			});
		}

		void aLimit() {
			Awaitility.await().atMost(Duration.ofSeconds(5)).until(() -> true);
		}

		void aLimitOfAFuture(CompletableFuture<?> future) {
			assertThat(future).succeedsWithin(Duration.ofSeconds(2));
		}

		Object aLimitOfAResult(CompletableFuture<?> future) throws Exception {
			return future.get(1, TimeUnit.SECONDS);
		}

		Object aLimitOfAnyFuture(Future<?> future) throws Exception {
			return future.get(1, TimeUnit.SECONDS);
		}

		Object aLimitOfAQueue(BlockingQueue<?> queue) throws InterruptedException {
			return queue.poll(2, TimeUnit.SECONDS);
		}

		boolean aLimitOfAnExecutor(ExecutorService executor) throws InterruptedException {
			return executor.awaitTermination(5, TimeUnit.SECONDS);
		}

		void aLimitOfAllWaits() {
			Awaitility.setDefaultTimeout(Duration.ofSeconds(5));
		}

		boolean aLimitOfALatch(CountDownLatch latch) throws InterruptedException {
			return latch.await(3, TimeUnit.SECONDS);
		}

	}

	private static final class OpenedOnce {

		@AutoClose
		private static final AutoCloseable server = () -> {
		};

	}

	@Timeout(1)
	private static final class TimedOut {

	}

	private static final class WithOneTimeout {

		@Timeout(1)
		void method() {
		}

	}

	@Timeout(1)
	@Retention(RetentionPolicy.RUNTIME)
	private @interface Quick {

	}

	private static final class WithOwnTimeout {

		@Quick
		void method() {
		}

	}

}
