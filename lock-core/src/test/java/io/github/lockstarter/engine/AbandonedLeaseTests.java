// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.event.LockEvent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Leases with a fixed lease time that are not closed and simply expire.
 */
class AbandonedLeaseTests extends AbstractInstancesTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	private static final Duration LEASE_TIME = Duration.ofSeconds(1);

	private static final LockRequest BRIEF = REQUEST.withLeaseTime(LEASE_TIME);

	private final DefaultLockRegistry registry = this.instances.registry(this.instances.store(), this.events::add);

	@ParameterizedTest
	@EnumSource
	void theThreadTakesTheLockAnewOnceTheTimeIsOver(LockMode mode) {
		LockRequest request = BRIEF.withMode(mode);
		long token = 0;
		for (int i = 0; i < 3; i++) {
			Lease lease = this.registry.acquire(request);
			assertThat(lease.fencingToken()).isGreaterThan(token);
			token = lease.fencingToken();
			assertThat(lease.isHeld()).isTrue();
			this.time.advance(LEASE_TIME);
			assertThat(lease.isHeld()).isFalse();
		}
		assertThat(this.registry.activeLocks()).isZero();
	}

	@Test
	void theThreadTakesTheLockInAnotherModeOnceTheTimeIsOver() {
		Lease reader = this.registry.acquire(BRIEF.withMode(LockMode.READ));
		this.time.advance(LEASE_TIME);
		try (Lease writer = this.registry.acquire(REQUEST.withMode(LockMode.WRITE))) {
			assertThat(writer.isHeld()).isTrue();
			assertThat(writer.fencingToken()).isGreaterThan(reader.fencingToken());
		}
	}

	@Test
	void aReaderThatLostItsLockMayWriteAndLearnsOfTheLossWhenItIsClosed() {
		Lease reader = this.registry.acquire(REQUEST.withMode(LockMode.READ));
		this.memory.clear();
		this.time.advance(Duration.ofSeconds(10));
		try (Lease writer = this.registry.acquire(REQUEST.withMode(LockMode.WRITE))) {
			assertThat(writer.isHeld()).isTrue();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(reader::close)
				.withMessageContaining("the store no longer knew its owner");
			assertThat(writer.isHeld()).isTrue();
		}
	}

	@Test
	void closingItLateReportsTheLossAndHarmsNoLaterOwner() {
		Lease abandoned = this.registry.acquire(BRIEF);
		Lease nested = this.registry.acquire(REQUEST);
		this.time.advance(LEASE_TIME);
		assertThat(this.registry.activeLocks()).isZero();
		try (Lease next = this.registry.acquire(REQUEST)) {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(nested::close)
				.withMessageContaining("lease time of 1000 ms expired");
			assertThatExceptionOfType(LockLostException.class).isThrownBy(abandoned::close);
			assertThat(next.isHeld()).isTrue();
			assertThat(this.registry.activeLocks()).isEqualTo(1);
		}
		assertThat(this.events).filteredOn(LockEvent.Lost.class::isInstance).hasSize(1);
	}

	@Test
	void aLockThatWasLockedWithinItIsUnlockedAndReportsTheLoss() {
		Lease abandoned = this.registry.acquire(BRIEF);
		Lock lock = this.registry.lock(KEY);
		lock.lock();
		this.time.advance(LEASE_TIME);
		assertThat(abandoned.isHeld()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::lock);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
		assertThat(this.registry.activeLocks()).isZero();
		assertThat(lock.tryLock()).isTrue();
		lock.unlock();
	}

	@Test
	void nothingStaysBehind() throws Exception {
		List<WeakReference<Thread>> threads = new ArrayList<>();
		List<Thread> running = new ArrayList<>();
		for (int i = 0; i < 2000; i++) {
			LockRequest request = LockRequest.of("stock", i).withLeaseTime(LEASE_TIME);
			Thread thread = new Thread(() -> this.registry.acquire(request));
			thread.start();
			running.add(thread);
			threads.add(new WeakReference<>(thread));
		}
		for (Thread thread : running) {
			thread.join();
		}
		running.clear();
		assertThat(this.registry.activeLocks()).isEqualTo(2000);
		this.time.advance(LEASE_TIME);
		assertThat(this.registry.activeLocks()).isZero();
		assertThat(this.registry.backgroundActions()).isZero();
		assertThat(this.memory.isEmpty()).isTrue();
		Awaitility.await().until(() -> {
			System.gc();
			return threads.stream().allMatch((thread) -> thread.get() == null);
		});
		long now = this.time.now();
		this.time.letPass(this.registry::close);
		assertThat(this.time.now()).as("nobody is waited for").isEqualTo(now);
	}

}
