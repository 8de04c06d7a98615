// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The rule about time sees every way to break it. The examples are never run.
 */
class ClockRuleTests {

	@Test
	void codeWithoutTheTagUsesNoRealTime() {
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> rule(Unmarked.class).realTimeIsMarked())
			.satisfies((failure) -> {
				for (String way : Unmarked.WAYS) {
					assertThat(failure).hasMessageContaining("." + way + "()> ");
				}
			})
			.withMessageNotContaining(".aSecond()>");
	}

	@Test
	void codeWithTheTagUsesIt() {
		rule(Marked.class).realTimeIsMarked();
	}

	@Test
	void noCodeHasAnUpperBoundOnElapsedTime() {
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> rule(Marked.class).noTestHasAnUpperBoundOnTime())
			.withMessageContaining(".aDuration()>")
			.withMessageContaining(".nanoseconds()>")
			.withMessageContaining(".aTimeout()>")
			.withMessageNotContaining(".aLowerBound()>");
	}

	@Test
	void noCodeHasATimeout() {
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> rule(TimedOut.class).noTestHasAnUpperBoundOnTime());
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> rule(WithOneTimeout.class).noTestHasAnUpperBoundOnTime());
	}

	private static AbstractClockRuleTests rule(Class<?> example) {
		return new AbstractClockRuleTests(new ClassFileImporter().importClasses(example, OnlyInTagged.class)) {
		};
	}

	@SuppressWarnings("unused")
	private static final class Unmarked {

		static final String[] WAYS = { "sleeps", "sleepsInALambda", "sleepsByUnit", "reads", "refers", "parks",
				"shortTime", "calls" };

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

		long calls() {
			return OnlyInTagged.elapsed();
		}

		Duration aSecond() {
			return Duration.ofMillis(1000);
		}

	}

	@Tag("clock")
	private static final class OnlyInTagged {

		static long elapsed() {
			return System.nanoTime();
		}

	}

	@SuppressWarnings("unused")
	private static final class Marked {

		@Tag("clock")
		void aDuration() {
			assertThat(Duration.ofNanos(OnlyInTagged.elapsed())).isLessThan(Duration.ofSeconds(1));
		}

		@Tag("clock")
		void nanoseconds() {
			assertThat(System.nanoTime()).isBetween(1L, 2L);
		}

		@Tag("clock")
		void aTimeout() {
			Assertions.assertTimeout(Duration.ofSeconds(1), () -> {
			});
		}

		@Tag("clock")
		void aLowerBound() {
			assertThat(System.nanoTime()).isGreaterThan(1L);
		}

	}

	@Timeout(1)
	private static final class TimedOut {

	}

	private static final class WithOneTimeout {

		@Timeout(1)
		void method() {
		}

	}

}
