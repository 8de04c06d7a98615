// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualClock;

import static org.assertj.core.api.Assertions.assertThat;

class StoreQueueTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private final ManualClock clock = new ManualClock();

	private final FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(new LockMemory(this.clock)));

	private final Timetable timetable = new Timetable(this.clock);

	private final LocalEntries entries = new LocalEntries(Duration.ofSeconds(30));

	private final StoreQueue queue = new StoreQueue(this.store, this.timetable,
			new StoreLanes(this.store::serverOf, Runnable::run, 1, 1), this.entries);

	@Test
	void aPlaceThatCouldNotBeGivenUpIsGivenUpLater() {
		this.store.withdraw.loseRequests(() -> this.store.withdraw.calls() < 3);
		this.queue.leave(KEY);
		advance(Duration.ofSeconds(10));
		assertThat(this.store.withdraw.calls()).isEqualTo(3);
		assertThat(this.timetable.size()).isZero();
	}

	@Test
	void whoWaitsAgainKeepsThePlace() {
		this.store.withdraw.loseRequests(() -> true);
		this.queue.leave(KEY);
		this.entries.getOrCreate(KEY);
		advance(Duration.ofSeconds(10));
		assertThat(this.store.withdraw.calls()).isEqualTo(1);
		assertThat(this.timetable.size()).isZero();
	}

	@Test
	void aPlaceThatCannotBeGivenUpIsLeftToExpire() {
		this.store.withdraw.loseRequests(() -> true);
		this.queue.leave(KEY);
		advance(Duration.ofMinutes(2));
		assertThat(this.store.withdraw.calls()).isEqualTo(60);
		assertThat(this.timetable.size()).isZero();
	}

	@Test
	void whoCameMeanwhileAsksAgainAfterItsPlaceWasGivenUp() throws Exception {
		List<Runnable> later = new ArrayList<>();
		StoreLanes lanes = new StoreLanes(this.store::serverOf, later::add, 1, 1);
		new StoreQueue(this.store, this.timetable, lanes, this.entries).leave(KEY);
		StoreBell bell = this.entries.getOrCreate(KEY).bell();
		bell.reset();
		later.forEach(Runnable::run);
		assertThat(this.store.withdraw.calls()).isEqualTo(1);
		assertThat(Callers.start(() -> {
			Caller caller = Caller.interruptible(Duration.ofMinutes(5), LockMode.EXCLUSIVE, null);
			return bell.await(caller, Duration.ofMinutes(5).toNanos(), () -> null) == null;
		}).get()).isTrue();
	}

	private void advance(Duration duration) {
		for (long second = 0; second < duration.toSeconds(); second++) {
			this.clock.advance(Duration.ofSeconds(1));
			this.timetable.runDue();
		}
	}

}
