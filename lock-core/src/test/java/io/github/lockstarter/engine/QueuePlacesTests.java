// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;

class QueuePlacesTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private final ManualTime time = new ManualTime();

	private final FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(new LockMemory(this.time)));

	private final Timetable timetable = new Timetable(this.time);

	private final UnderWay underWay = new UnderWay(this.time);

	private final List<LockKey> rung = new ArrayList<>();

	private final QueuePlaces places = places(Runnable::run);

	@Test
	void aWaiterThatCameMeanwhileAsksAgainAfterItsPlaceWasGivenUp() {
		List<Runnable> later = new ArrayList<>();
		places(later::add).leave(KEY);
		assertThat(this.rung).isEmpty();
		later.forEach(Runnable::run);
		assertThat(this.store.withdraw.calls()).isEqualTo(1);
		assertThat(this.rung).containsExactly(KEY);
	}

	@Test
	void thePlaceOfAWaiterThatLeavesWhileItEntersIsGivenUp() {
		Waiter waiter = new ThreadWaiter(new Terms(EngineSettings.DEFAULTS, this.time), Duration.ZERO, LockMode.FAIR,
				null, null, Thread.currentThread());
		this.store.arrive.loseRequests(() -> {
			this.places.leave(KEY, waiter, false);
			return false;
		});
		this.places.come(waiter);
		this.places.enter(KEY, waiter);
		assertThat(this.store.arrive.calls()).isOne();
		assertThat(this.store.withdraw.calls()).isOne();
	}

	@Test
	void theEndWaitsUntilAPlaceIsGivenUp() throws Exception {
		List<Runnable> later = new ArrayList<>();
		QueuePlaces places = places(later::add);
		places.leave(KEY);
		Call<Boolean> end = Callers.start(() -> {
			this.underWay.awaitNone();
			return true;
		});
		this.time.awaitParked(1);
		later.forEach(Runnable::run);
		assertThat(end.get()).isTrue();
	}

	private QueuePlaces places(Executor threads) {
		return new QueuePlaces(this.store.waitingLine(), this.timetable, threads, this.underWay, this.rung::add);
	}

}
