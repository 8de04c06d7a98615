// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.memory;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.WaitingLine;
import io.github.lockstarter.test.AbstractCapableLockStoreTests;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;

class MemoryLockStoreTests extends AbstractCapableLockStoreTests {

	private final ManualTime time = new ManualTime();

	private final LockMemory memory = new LockMemory(this.time, RESERVATION);

	@Test
	void noTestIsSkippedForWhatItDeclares() {
		MemoryLockStore store = new MemoryLockStore();
		assertThat(store.modes()).containsExactlyInAnyOrder(LockMode.values());
		assertThat(store.keeping()).isPresent();
		assertThat(store.waitingLine()).isNotSameAs(WaitingLine.NONE);
		assertThat(store.mayBlock()).isFalse();
	}

	@Test
	void tokensKeepGrowingInTheNextJvm() {
		long now = ChronoUnit.MICROS.between(Instant.parse("2024-01-01T00:00:00Z"), Instant.now());
		AcquireResult first = new StoreClient(new MemoryLockStore()).acquire(this.key, this.owner, LEASE_TIME, false);
		assertThat(((AcquireResult.Grant) first).fencingBase()).isGreaterThanOrEqualTo(now);
	}

	@Test
	void aPlaceThatCannotBeToldIsForgottenAtTheRelease() {
		StoreClient one = this.one.client();
		one.acquire(this.key, this.owner, LEASE_TIME, false);
		new StoreClient(createStore()).acquire(this.key, this.other, LEASE_TIME, true);
		assertThat(one.waiters(this.key)).hasSize(1);
		assertThat(one.release(this.key, this.owner)).isTrue();
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Override
	protected LockStore createStore() {
		return new MemoryLockStore(this.memory);
	}

	@Override
	protected void expire(LockKey key, OwnerToken owner) {
		this.time.advance(LEASE_TIME);
	}

	@Override
	protected void endReservation(LockKey key) {
		this.time.advance(RESERVATION);
	}

	@Override
	protected boolean isOnRealClock() {
		return false;
	}

	@Test
	void aLeaseEndsExactlyInTime() {
		StoreClient two = this.two.client();
		this.one.client().acquire(this.key, this.owner, LEASE_TIME, false);
		this.time.advance(LEASE_TIME.minusNanos(1));
		assertThat(two.acquire(this.key, this.other, LEASE_TIME, false)).isInstanceOf(AcquireResult.Refusal.class);
		this.time.advance(Duration.ofNanos(1));
		assertThat(two.acquire(this.key, this.other, LEASE_TIME, false)).isInstanceOf(AcquireResult.Grant.class);
	}

}
