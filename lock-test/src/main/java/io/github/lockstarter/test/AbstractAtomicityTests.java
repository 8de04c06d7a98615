// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Phaser;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.ReleaseOutcome;
import io.github.lockstarter.test.Callers.Call;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The part of the contract of every {@link LockStore} that is about owners that ask at
 * the same time, and about owners whose lease has expired.
 */
abstract class AbstractAtomicityTests extends StoreHarness {

	private static final int OWNERS = 8;

	private static final int MIN_LOCKS = 20;

	private static final int MAX_LOCKS = 5000;

	/** How long owners compete in one test. */
	private static final Duration PATIENCE = Duration.ofMillis(400);

	@Test
	void aStoreHasAName() {
		assertThat(this.one.client().store().name()).isNotBlank();
	}

	@Test
	void oneOfManyConcurrentOwnersIsGranted() throws Exception {
		List<LockKey> locks = Stream.generate(StoreHarness::unusedKey).limit(MAX_LOCKS).toList();
		assertOneOwnerEach(locks);
	}

	@Test
	void oneOfManyConcurrentOwnersIsGrantedAnExpiredLock() throws Exception {
		List<LockKey> locks = new ArrayList<>();
		long start = System.nanoTime();
		while (locks.size() < MIN_LOCKS || (locks.size() < MAX_LOCKS && isTimeLeft(start))) {
			LockKey lock = unusedKey();
			this.one.grant(lock, OwnerToken.random(), shortLeaseTime());
			locks.add(lock);
		}
		awaitExpiry();
		assertOneOwnerEach(locks);
	}

	@Test
	void anExpiredOwnerDoesNotRenewALockThatNobodyElseHolds() {
		this.one.grant(this.key, this.owner, shortLeaseTime());
		awaitExpiry();
		assertThat(this.one.renew(this.key, this.owner, Duration.ZERO)).isFalse();
		assertThat(this.one.renew(this.key, this.owner)).isFalse();
		this.two.grant(this.key, this.other);
	}

	@Test
	void anExpiredOwnerDoesNotReleaseALockThatNobodyElseHolds() {
		this.one.grant(this.key, this.owner, shortLeaseTime());
		awaitExpiry();
		assertThat(this.one.release(this.key, this.owner, null)).isEqualTo(ReleaseOutcome.NOT_OWNER);
		this.two.grant(this.key, this.other);
	}

	/**
	 * Wait until all short leases that were granted before are over.
	 */
	private void awaitExpiry() {
		LockKey last = unusedKey();
		this.one.grant(last, OwnerToken.random(), shortLeaseTime());
		takeOver(last);
	}

	/**
	 * Let several owners ask for each lock at the same time, for as many locks as there
	 * is time.
	 */
	private void assertOneOwnerEach(List<LockKey> locks) throws Exception {
		Queue<LockKey> granted = new ConcurrentLinkedQueue<>();
		long start = System.nanoTime();
		Phaser rounds = new Phaser(OWNERS) {

			@Override
			protected boolean onAdvance(int round, int owners) {
				return round == locks.size() || (round >= MIN_LOCKS && !isTimeLeft(start));
			}

		};
		List<Jvm> jvms = List.of(this.one, this.two, this.three);
		List<Call<Integer>> owners = IntStream.range(0, OWNERS)
			.mapToObj((i) -> Callers.start(() -> race(jvms.get(i % jvms.size()), locks, rounds, granted)))
			.toList();
		int contested = 0;
		for (Call<Integer> each : owners) {
			contested = each.get();
		}
		assertThat(granted).doesNotHaveDuplicates().hasSize(contested);
	}

	private static boolean isTimeLeft(long start) {
		return System.nanoTime() - start < PATIENCE.toNanos();
	}

	private static int race(Jvm jvm, List<LockKey> locks, Phaser rounds, Queue<LockKey> granted) {
		try {
			for (int round = 0;; round++) {
				OwnerToken owner = OwnerToken.random();
				// All owners continue in the same moment, because they do not park
				int before = rounds.arrive();
				while (rounds.getPhase() == before) {
					Thread.yield();
				}
				if (rounds.isTerminated()) {
					return round;
				}
				if (jvm.acquire(locks.get(round), owner) instanceof LockGrant) {
					granted.add(locks.get(round));
				}
			}
		}
		finally {
			rounds.forceTermination();
		}
	}

}
