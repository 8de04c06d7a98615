// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;

class FutureWaiterTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private final ManualTime time = new ManualTime();

	private final LockMemory memory = new LockMemory(this.time);

	private final LockStore store = new DirectStore(new MemoryLockStore(this.memory));

	private final EngineThreads threads = new EngineThreads(this.time);

	private final DefaultLockRegistry other = new DefaultLockRegistry(new MemoryLockStore(this.memory),
			EngineSettings.DEFAULTS, LockListener.NO_OP, this.time);

	@AfterEach
	void end() {
		this.threads.close();
		this.other.close();
	}

	/**
	 * The thread that settles an outcome wakes the waiter afterwards. By then the waiter
	 * may have come again, because it has lost that hold.
	 */
	@Test
	void aLateCallForAnEarlierOutcomeDoesNotEndTheNextWait() throws Exception {
		Lease held = this.other.acquire(REQUEST);
		FutureWaiter waiter = new FutureWaiter(new Terms(EngineSettings.DEFAULTS, this.time), REQUEST,
				Duration.ofSeconds(20), new Object(), gateway(), this.threads);
		CompletableFuture<Lease> acquisition = waiter.begin();
		waiter.wake();
		CompletableFuture.runAsync(() -> {
		}, this.threads.tasks()).join();
		assertThat(acquisition).isNotDone();
		held.close();
		assertThat(acquisition).succeedsWithin(Duration.ofSeconds(20)).satisfies(Lease::close);
	}

	private StoreGateway gateway() {
		OutageLog outages = EngineProbe.outages(this.threads.timetable());
		return new StoreGateway(this.store, StoreCapabilities.of(this.store.name(), this.store),
				EngineSettings.DEFAULTS, this.threads, new Terms(EngineSettings.DEFAULTS, this.time),
				new LeaseEvents("memory", LockListener.NO_OP, Runnable::run, Runnable::run, outages), outages);
	}

}
