// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;

import static org.assertj.core.api.Assertions.assertThat;

class SystemTimeTests {

	private static final Time TIME = Time.SYSTEM;

	@Test
	@Tag("clock")
	void aThreadIsParkedUntilItsDeadline() {
		long start = TIME.now();
		long deadline = start + Duration.ofSeconds(1).toNanos();
		int returns = 0;
		while (deadline - TIME.now() > 0) {
			TIME.parkUntil(this, deadline);
			returns++;
		}
		// A thread that did not park would return without end
		assertThat(returns).isLessThan(1000);
	}

	@Test
	void aThreadGoesOnWhenItIsUnparked() throws Exception {
		for (Duration time : new Duration[] { Duration.ofHours(1), Duration.ofNanos(Long.MAX_VALUE / 2) }) {
			Call<Boolean> call = Callers.start(() -> {
				TIME.parkUntil(this, TIME.now() + time.toNanos());
				return true;
			}).awaitParked();
			TIME.unpark(call.thread());
			assertThat(call.get()).isTrue();
		}
	}

	@Test
	void aThreadThatParksAfterItsDeadlineGoesOnAtOnce() {
		TIME.parkUntil(this, TIME.now() - 1);
	}

	@Test
	void theThreadThatKeepsTimeGoesOnAfterAnError() throws InterruptedException {
		CountDownLatch errors = new CountDownLatch(3);
		TestSchedule schedule = new TestSchedule(() -> {
			errors.countDown();
			throw new OutOfMemoryError("it is a test");
		});
		TIME.start(schedule);
		assertThat(errors.await(20, TimeUnit.SECONDS)).isTrue();
		schedule.closed = true;
	}

	@Test
	void theThreadThatKeepsTimeSleepsAgainAfterAnInterrupt() {
		TestSchedule schedule = new TestSchedule(() -> {
		});
		Thread thread = Objects.requireNonNull(TIME.start(schedule));
		thread.interrupt();
		Awaitility.await().until(() -> !thread.isInterrupted() && thread.getState() == Thread.State.TIMED_WAITING);
		schedule.closed = true;
		TIME.unpark(thread);
	}

	@Test
	void theThreadThatKeepsTimeInheritsNothingOfItsFirstCallerButTheClassLoader() throws Exception {
		InheritableThreadLocal<String> tenant = new InheritableThreadLocal<>();
		tenant.set("first");
		CompletableFuture<String> inherited = new CompletableFuture<>();
		TestSchedule schedule = new TestSchedule(() -> inherited.complete(String.valueOf(tenant.get())));
		Thread thread = Objects.requireNonNull(TIME.start(schedule));
		assertThat(inherited.get(20, TimeUnit.SECONDS)).isEqualTo("null");
		assertThat(thread.getContextClassLoader()).isSameAs(Thread.currentThread().getContextClassLoader());
		schedule.closed = true;
		TIME.unpark(thread);
		tenant.remove();
	}

	/** Nothing is due on it for an hour. */
	private static final class TestSchedule implements Time.Schedule {

		private final Runnable due;

		private volatile boolean closed;

		TestSchedule(Runnable due) {
			this.due = due;
		}

		@Override
		public void runDue() {
			this.due.run();
		}

		@Override
		public long nextDue() {
			return TIME.now() + Duration.ofHours(1).toNanos();
		}

		@Override
		public boolean isClosed() {
			return this.closed;
		}

	}

}
