// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.testsupport.ManualInstances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class RegistryLockTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	@RegisterExtension
	private final ManualInstances instances = new ManualInstances();

	private final ManualTime time = this.instances.time;

	private final LockMemory memory = this.instances.memory;

	private final DefaultLockRegistry registry = this.instances.registry();

	private final Lock lock = this.registry.lock(KEY);

	@Test
	void excludesOtherThreadsUntilUnlocked() throws Exception {
		this.lock.lock();
		assertThat(Callers.start(() -> this.registry.lock(KEY).tryLock()).get()).isFalse();
		this.lock.unlock();
		assertThat(Callers.start(this::lockAndUnlock).get()).isTrue();
	}

	@Test
	void isReentrant() throws Exception {
		this.lock.lock();
		assertThat(this.lock.tryLock()).isTrue();
		this.lock.unlock();
		assertThat(Callers.start(() -> this.lock.tryLock()).get()).isFalse();
		this.lock.unlock();
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void anyTwoViewsOfAKeyAreTheSameLock() {
		this.lock.lock();
		this.registry.lock(KEY).unlock();
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void unlockByANonOwnerIsRefusedAndChangesNothing() {
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(this.lock::unlock)
			.withMessageContaining("'stock:1001'");
		this.lock.lock();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(() -> Callers.start(() -> {
			this.lock.unlock();
			return true;
		}).get());
		assertThat(this.memory.isEmpty()).isFalse();
		this.lock.unlock();
	}

	@Test
	void unlockDoesNotCloseALeaseThatWasTakenInAnotherWay() {
		try (Lease lease = this.registry.acquire(LockRequest.of(KEY))) {
			assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(this.lock::unlock);
			assertThat(lease.isHeld()).isTrue();
		}
	}

	@Test
	void unlockReportsThatTheLockWasLost() {
		this.lock.lock();
		this.memory.clear();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.lock::unlock);
	}

	@Test
	void lockIgnoresInterruptsAndRestoresTheFlag() throws Exception {
		this.lock.lock();
		Call<Boolean> waiter = Callers.start(() -> {
			this.lock.lock();
			this.lock.unlock();
			return Thread.currentThread().isInterrupted();
		});
		this.time.awaitParked(1);
		waiter.thread().interrupt();
		this.lock.unlock();
		assertThat(waiter.get()).isTrue();
	}

	@Test
	void lockInterruptiblyThrowsAndClearsTheFlagAsTheJdkDoes() throws Exception {
		this.lock.lock();
		Call<Boolean> waiter = Callers.start(() -> {
			try {
				this.lock.lockInterruptibly();
				return false;
			}
			catch (InterruptedException ex) {
				return !Thread.currentThread().isInterrupted();
			}
		});
		this.time.awaitParked(1);
		waiter.thread().interrupt();
		assertThat(waiter.get()).isTrue();
		this.lock.unlock();
	}

	@Test
	void timedTryLockEndsInTime() throws Exception {
		this.lock.lock();
		Call<Boolean> waiter = Callers.start(() -> this.lock.tryLock(20, TimeUnit.SECONDS));
		this.time.awaitParked(1);
		this.time.advance(Duration.ofSeconds(19));
		assertThat(waiter.result()).isNotDone();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(waiter.get()).isFalse();
		this.lock.unlock();
		assertThat(Callers.start(() -> {
			boolean locked = this.lock.tryLock(1, TimeUnit.HOURS);
			this.lock.unlock();
			return locked;
		}).get()).isTrue();
	}

	@Test
	void tryLockWorksOnAnInterruptedThread() throws Exception {
		assertThat(Callers.start(() -> {
			Thread.currentThread().interrupt();
			return lockAndUnlock() && Thread.currentThread().isInterrupted();
		}).get()).isTrue();
	}

	@Test
	void hasNoConditions() {
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(this.lock::newCondition);
	}

	private boolean lockAndUnlock() {
		if (!this.lock.tryLock()) {
			return false;
		}
		this.lock.unlock();
		return true;
	}

}
