// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class TimetableTests {

	private final ManualTime time = new ManualTime();

	private final Timetable timetable = new Timetable(this.time);

	private final List<String> done = new ArrayList<>();

	@Test
	void runsWhatIsDueInOrderAndReturnsTheNextTime() {
		enter("third", Duration.ofSeconds(9));
		enter("second", Duration.ofSeconds(2));
		enter("first", Duration.ofSeconds(1));
		this.time.advance(Duration.ofSeconds(2));
		this.timetable.runDue();
		assertThat(this.done).containsExactly("first", "second");
		assertThat(this.timetable.nextDue() - this.time.now()).isEqualTo(Duration.ofSeconds(7).toNanos());
	}

	@Test
	void runsEachActionThatIsDueAtTheSameTimeOnce() {
		Timetable.Entry cancelled = enter("cancelled", Duration.ofSeconds(1));
		enter("one", Duration.ofSeconds(1));
		enter("another", Duration.ofSeconds(1));
		this.timetable.cancel(cancelled);
		this.time.advance(Duration.ofSeconds(1));
		this.timetable.runDue();
		this.timetable.runDue();
		assertThat(this.done).containsExactlyInAnyOrder("one", "another");
		assertThat(this.timetable.size()).isZero();
	}

	/**
	 * Several threads run what is due, so that some of them are delayed between their
	 * first look at a time and its removal.
	 */
	@Test
	void losesNothingThatIsDueWhileTheOnlyOtherEntryOfThatTimeIsCancelled() throws Exception {
		int rounds = 20_000;
		AtomicInteger ran = new AtomicInteger();
		AtomicInteger entering = new AtomicInteger(3);
		List<Call<Boolean>> calls = new ArrayList<>();
		for (int thread = 0; thread < 3; thread++) {
			long first = this.time.now() - thread;
			calls.add(Callers.start(() -> {
				for (int i = 0; i < rounds; i++) {
					this.timetable.cancel(this.timetable.at(first - 3L * i, () -> {
					}));
					this.timetable.at(first - 3L * i, ran::incrementAndGet);
				}
				return entering.decrementAndGet() >= 0;
			}));
			calls.add(Callers.start(() -> {
				while (entering.get() > 0) {
					this.timetable.runDue();
				}
				return true;
			}));
		}
		for (Call<Boolean> call : calls) {
			assertThat(call.get()).isTrue();
		}
		this.timetable.runDue();
		assertThat(ran).hasValue(3 * rounds);
		assertThat(this.timetable.size()).isZero();
	}

	@Test
	void losesNothingThatIsEnteredWhileTheOnlyOtherEntryOfThatTimeIsCancelled() throws Exception {
		int rounds = 100_000;
		AtomicInteger ran = new AtomicInteger();
		AtomicInteger ready = new AtomicInteger();
		long first = this.time.now() + 1;
		Call<Boolean> canceller = Callers.start(() -> {
			for (int i = 0; i < rounds; i++) {
				Timetable.Entry entry = this.timetable.at(first + i, ran::incrementAndGet);
				meet(ready, 2 * i);
				this.timetable.cancel(entry);
			}
			return true;
		});
		for (int i = 0; i < rounds; i++) {
			meet(ready, 2 * i);
			this.timetable.at(first + i, ran::incrementAndGet);
		}
		canceller.get();
		assertThat(this.timetable.size()).isEqualTo(rounds);
		this.time.advance(Duration.ofSeconds(1));
		this.timetable.runDue();
		assertThat(ran).hasValue(rounds);
		assertThat(this.timetable.size()).isZero();
	}

	/** Let two threads continue at the same time, as nearly as possible. */
	private static void meet(AtomicInteger ready, int before) {
		ready.incrementAndGet();
		while (ready.get() < before + 2) {
			// Spinning would wait for a thread that other processes keep from its core
			Thread.yield();
		}
	}

	/**
	 * An action that is entered while the thread falls asleep wakes nobody, because the
	 * thread should have been awake already.
	 */
	@Test
	void doesNotSleepPastAnActionThatIsEnteredAfterItsLastTimeToWake() {
		AtomicReference<Runnable> meanwhile = new AtomicReference<>();
		Timetable falling = new Timetable(new Time() {

			@Override
			public long now() {
				Runnable enters = meanwhile.getAndSet(null);
				if (enters != null) {
					enters.run();
				}
				return TimetableTests.this.time.now();
			}

			@Override
			public void parkUntil(Object blocker, long deadline) {
				throw new UnsupportedOperationException();
			}

			@Override
			public void unpark(Thread thread) {
				throw new UnsupportedOperationException();
			}

			@Override
			public Thread start(Schedule schedule) {
				throw new UnsupportedOperationException();
			}

		});
		falling.at(this.time.now(), () -> {
		});
		falling.nextDue();
		falling.runDue();
		long due = this.time.now() + Duration.ofSeconds(10).toNanos();
		// The thread has found no action, and reads the clock
		meanwhile.set(() -> falling.at(due, () -> {
		}));
		assertThat(falling.nextDue()).isEqualTo(due);
	}

	@Test
	void doesNotRunWhatWasCancelled() {
		Timetable.Entry entry = enter("cancelled", Duration.ofSeconds(1));
		this.timetable.cancel(entry);
		this.time.advance(Duration.ofSeconds(1));
		this.timetable.runDue();
		assertThat(this.done).isEmpty();
		assertThat(this.timetable.size()).isZero();
	}

	@Test
	void goesOnAfterAnActionThatFails() {
		this.timetable.at(this.time.now(), () -> {
			throw new IllegalStateException("expected by the test");
		});
		enter("next", Duration.ZERO);
		this.timetable.runDue();
		assertThat(this.done).containsExactly("next");
	}

	@Test
	void runsAnActionAgainThatHasFoundNoMemory() {
		AtomicInteger attempts = new AtomicInteger();
		this.timetable.at(this.time.now(), () -> {
			if (attempts.incrementAndGet() == 1) {
				throw new OutOfMemoryError("it is a test");
			}
		});
		enter("next", Duration.ZERO);
		assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(this.timetable::runDue);
		this.timetable.runDue();
		assertThat(attempts).hasValue(2);
		assertThat(this.done).containsExactly("next");
		assertThat(this.timetable.size()).isZero();
	}

	@Test
	void wakesItsThreadForWhatIsDueBeforeAllElse() throws InterruptedException {
		try (Timetable running = new Timetable(Time.SYSTEM)) {
			running.start();
			running.at(running.now() + Duration.ofHours(1).toNanos(), () -> {
			});
			CountDownLatch ran = new CountDownLatch(1);
			running.at(running.now(), ran::countDown);
			assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
		}
	}

	private Timetable.Entry enter(String name, Duration after) {
		return this.timetable.at(this.time.now() + after.toNanos(), () -> this.done.add(name));
	}

}
