// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;

class OrphansTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration HOUR = Duration.ofHours(1);

	private final ManualTime time = new ManualTime();

	private final FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(new LockMemory(this.time)));

	private final Timetable timetable = new Timetable(this.time);

	private final StoreClient client = new StoreClient(this.store);

	private final Orphans orphans = new Orphans(this.store, this.timetable, Runnable::run, () -> {
	});

	private final OwnerToken owner = OwnerToken.random();

	@Test
	void aFailedReleaseIsTriedAgainUntilTheStoreAnswers() {
		this.client.acquire(KEY, this.owner, LEASE, false);
		this.store.release.loseRequests(() -> this.store.release.calls() < 4);
		this.orphans.retry(KEY, this.owner, end());
		advance(Duration.ofSeconds(4));
		assertThat(this.store.release.calls()).isEqualTo(4);
		assertThat(this.orphans.pending()).isZero();
		assertThat(isFree()).isTrue();
	}

	@Test
	void aReleaseThatFailsForTheWholeLeaseIsGivenUpWithIt() {
		this.client.acquire(KEY, this.owner, LEASE, false);
		this.store.release.loseRequests(() -> true);
		this.orphans.retry(KEY, this.owner, end());
		advance(LEASE);
		assertThat(this.orphans.pending()).isZero();
		assertThat(this.timetable.size()).isZero();
	}

	@Test
	void anOrphanThatIsGrantedLateIsStillReleased() {
		this.orphans.orphan(KEY, this.owner, end());
		advance(Duration.ofSeconds(10));
		this.client.acquire(KEY, this.owner, LEASE, false);
		advance(Duration.ofSeconds(4));
		assertThat(isFree()).isTrue();
	}

	@Test
	void anOrphanIsForgottenOneLeaseAfterItsLastRequest() {
		this.orphans.orphan(KEY, this.owner, end());
		advance(LEASE);
		assertThat(this.orphans.pending()).isZero();
		assertThat(this.timetable.size()).isZero();
		assertThat(this.store.release.calls()).isBetween(9, 15);
	}

	@Test
	void givingBackAnOrphanDoesNotTouchTheNextOwner() {
		OwnerToken next = OwnerToken.random();
		this.client.acquire(KEY, next, LEASE, false);
		this.orphans.orphan(KEY, this.owner, end());
		advance(Duration.ofSeconds(10));
		assertThat(this.client.renew(KEY, next, LEASE)).isTrue();
	}

	@Test
	void aWishWhoseAnswerWasLostIsRepeatedAndFulfilledOnce() {
		Ownership ownership = ownership();
		this.store.keep.loseAnswers(() -> this.store.keep.calls() < 3);
		assertThat(this.orphans.keep(ownership, this.time.now() + HOUR.toNanos())).isTrue();
		advance(Duration.ofSeconds(2));
		assertThat(this.store.keep.calls()).isEqualTo(3);
		assertThat(this.orphans.pending()).isZero();
		advance(LEASE.multipliedBy(2));
		assertThat(isFree()).isFalse();
	}

	@Test
	void requestsThatMayStillComeTakeTheLockNeitherBeforeNorAfterItsTime() {
		Ownership ownership = ownership();
		ownership.uncertainUntil(end());
		assertThat(this.orphans.keep(ownership, this.time.now() + Duration.ofSeconds(5).toNanos())).isTrue();
		advance(Duration.ofSeconds(4));
		assertThat(isFree()).isFalse();
		advance(Duration.ofSeconds(2));
		this.client.acquire(KEY, this.owner, LEASE, false);
		advance(Duration.ofSeconds(4));
		assertThat(isFree()).isTrue();
	}

	private Ownership ownership() {
		AcquireResult.Grant grant = (AcquireResult.Grant) this.client.acquire(KEY, this.owner, LEASE, false);
		return new Ownership(KEY, this.owner, grant, LEASE, LEASE, this.time.now(), 0, this.timetable);
	}

	private long end() {
		return this.time.now() + LEASE.toNanos();
	}

	private boolean isFree() {
		return this.client.acquire(KEY, OwnerToken.random(), LEASE, false) instanceof AcquireResult.Grant;
	}

	private void advance(Duration duration) {
		for (long passed = 0; passed < duration.toMillis(); passed += 10) {
			this.time.advance(Duration.ofMillis(10));
			this.timetable.runDue();
		}
	}

}
