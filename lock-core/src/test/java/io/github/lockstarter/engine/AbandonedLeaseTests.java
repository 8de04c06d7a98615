// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Lock;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Leases with a fixed lease time that are not closed and simply expire.
 */
class AbandonedLeaseTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	private static final LockRequest BRIEF = REQUEST.withLeaseTime(Duration.ofSeconds(1));

	private final LockMemory memory = new LockMemory();

	private final FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(this.memory));

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	@AutoClose
	private final DefaultLockRegistry registry = new DefaultLockRegistry(this.store, EngineSettings.DEFAULTS,
			this.events::add);

	@ParameterizedTest
	@EnumSource
	@FullProfileOnly
	void theThreadTakesTheLockAnewOnceTheTimeIsOver(LockMode mode) {
		LockRequest request = BRIEF.withMode(mode);
		long token = 0;
		for (int i = 0; i < 3; i++) {
			Lease lease = this.registry.acquire(request);
			assertThat(lease.fencingToken()).isGreaterThan(token);
			token = lease.fencingToken();
			// No longer than that: its alarm may not have rung yet
			while (lease.isHeld()) {
				Thread.onSpinWait();
			}
		}
		Awaitility.await().until(() -> this.registry.activeLocks() == 0);
	}

	@Test
	void theThreadTakesTheLockInAnotherModeOnceTheTimeIsOver() {
		Lease reader = this.registry.acquire(BRIEF.withMode(LockMode.READ));
		while (reader.isHeld()) {
			Thread.onSpinWait();
		}
		try (Lease writer = this.registry.acquire(REQUEST.withMode(LockMode.WRITE))) {
			assertThat(writer.isHeld()).isTrue();
			assertThat(writer.fencingToken()).isGreaterThan(reader.fencingToken());
		}
	}

	@Test
	void aReaderThatLostItsLockLearnsOfItWhenItWantsToWrite() {
		// The next renewal comes soon, and long before the lease expires
		EngineSettings usual = EngineSettings.DEFAULTS;
		EngineSettings settings = new EngineSettings(usual.waitTime(), Duration.ofSeconds(15),
				EngineSettings.MAX_RENEWALS_PER_LEASE, usual.pollInterval(), usual.pollIntervalWithoutMessages(),
				usual.timeSlice(), usual.shutdownTimeout());
		try (DefaultLockRegistry renewing = new DefaultLockRegistry(this.store, settings, this.events::add);
				Lease reader = renewing.acquire(REQUEST.withMode(LockMode.READ))) {
			this.memory.clear();
			Awaitility.await().until(() -> !reader.isHeld());
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> renewing.acquire(REQUEST.withMode(LockMode.WRITE)))
				.withMessageContaining("the store no longer knew its owner");
		}
		catch (LockLostException ex) {
			assertThat(ex.getKey()).isEqualTo(KEY);
		}
	}

	@Test
	void closingItLateReportsTheLossAndHarmsNoLaterOwner() {
		Lease abandoned = this.registry.acquire(BRIEF);
		Lease nested = this.registry.acquire(REQUEST);
		Awaitility.await().until(() -> this.registry.activeLocks() == 0);
		try (Lease next = this.registry.acquire(REQUEST)) {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(nested::close)
				.withMessageContaining("lease time of 1000 ms expired");
			assertThatExceptionOfType(LockLostException.class).isThrownBy(abandoned::close);
			assertThat(next.isHeld()).isTrue();
			assertThat(this.registry.activeLocks()).isEqualTo(1);
		}
		Awaitility.await()
			.untilAsserted(() -> assertThat(this.events).filteredOn(LockEvent.Lost.class::isInstance).hasSize(1));
	}

	@Test
	void aLockThatWasLockedWithinItIsUnlockedAndReportsTheLoss() {
		Lease abandoned = this.registry.acquire(BRIEF);
		Lock lock = this.registry.lock(KEY);
		lock.lock();
		Awaitility.await().until(() -> !abandoned.isHeld());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::lock);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.registry.acquire(REQUEST));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
		Awaitility.await().until(() -> this.registry.activeLocks() == 0);
		assertThat(lock.tryLock()).isTrue();
		lock.unlock();
	}

	@Test
	void nothingStaysBehind() throws Exception {
		List<WeakReference<Thread>> threads = new ArrayList<>();
		List<Thread> running = new ArrayList<>();
		for (int i = 0; i < 2000; i++) {
			LockRequest request = LockRequest.of("stock", i).withLeaseTime(Duration.ofSeconds(1));
			Thread thread = new Thread(() -> this.registry.acquire(request));
			thread.start();
			running.add(thread);
			threads.add(new WeakReference<>(thread));
		}
		for (Thread thread : running) {
			thread.join();
		}
		running.clear();
		Awaitility.await()
			.until(() -> this.registry.activeLocks() == 0 && this.registry.backgroundActions() == 0
					&& this.memory.isEmpty());
		Awaitility.await().until(() -> {
			System.gc();
			return threads.stream().allMatch((thread) -> thread.get() == null);
		});
		long start = System.nanoTime();
		this.registry.close();
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
	}

}
