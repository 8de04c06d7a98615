// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeasedLock;
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

	private final LeasedLock lock = this.registry.lock(KEY);

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
	void tellsItsThreadAloneThatItIsHeld() throws Exception {
		assertThat(this.lock.isHeldByCurrentThread()).isFalse();
		this.lock.lock();
		this.lock.lock();
		assertThat(this.registry.lock(KEY).isHeldByCurrentThread()).isTrue();
		assertThat(Callers.start(this.lock::isHeldByCurrentThread).get()).isFalse();
		this.lock.unlock();
		assertThat(this.lock.isHeldByCurrentThread()).isTrue();
		this.lock.unlock();
		assertThat(this.lock.isHeldByCurrentThread()).isFalse();
	}

	@Test
	void aThreadThatWasToldOfTheLossNeedNotUnlockAndMayLockAgain() {
		this.lock.lock();
		this.lock.lock();
		this.memory.clear();
		this.time.advance(Duration.ofSeconds(30));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.lock::tryLock);
		assertThat(this.lock.isHeldByCurrentThread()).isFalse();
		assertThat(lockAndUnlock()).isTrue();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(this.lock::unlock);
	}

	@Test
	void aFixedLeaseEndsAndNeedNotBeUnlocked() throws Exception {
		assertThat(this.lock.tryLock(0, 20, TimeUnit.SECONDS)).isTrue();
		Call<Boolean> waiter = Callers.start(() -> this.lock.tryLock(1, 20, TimeUnit.HOURS));
		this.time.awaitParked(1);
		this.time.advance(Duration.ofSeconds(19));
		assertThat(waiter.result()).isNotDone();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(waiter.get()).isTrue();
		assertThat(this.lock.tryLock()).isFalse();
		this.time.advance(Duration.ofHours(20));
		this.lock.lock(20, TimeUnit.SECONDS);
		this.time.advance(Duration.ofSeconds(20));
		assertThat(lockAndUnlock()).isTrue();
	}

	@Test
	void unlockReportsThatAFixedLeaseHasExpired() {
		this.lock.lock(20, TimeUnit.SECONDS);
		this.time.advance(Duration.ofSeconds(20));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.lock::unlock);
		assertThat(lockAndUnlock()).isTrue();
	}

	@Test
	void aFixedLeaseThatIsForgottenMayHaveExpired() {
		this.lock.lock(20, TimeUnit.SECONDS);
		this.time.advance(Duration.ofSeconds(20));
		LeasedLock another = this.registry.lock(LockKey.of("another"));
		another.lock();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(this.lock::unlock)
			.withMessageEndingWith("or its lease has expired");
		another.unlock();
	}

	@Test
	void nestedLeasesShareTheLengthOfTheOuterOne() throws Exception {
		this.lock.lock();
		assertThat(this.lock.tryLock(0, 20, TimeUnit.SECONDS)).isTrue();
		this.time.advance(Duration.ofSeconds(25));
		assertThat(this.lock.isHeldByCurrentThread()).isTrue();
		this.lock.unlock();
		this.lock.unlock();
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void aLeaseThatIsToBeRenewedHasNoLength() {
		assertThatExceptionOfType(IllegalArgumentException.class)
			.isThrownBy(() -> this.lock.tryLock(1, -1, TimeUnit.SECONDS))
			.withMessageContaining("'leaseTime'");
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
