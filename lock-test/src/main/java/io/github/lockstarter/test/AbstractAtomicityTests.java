// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Phaser;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.LockAttempt;
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

	private static final int OWNERS = 4;

	private static final int LOCKS = 50;

	@Test
	void aStoreHasAName() {
		assertThat(this.one.client().store().name()).isNotBlank();
	}

	@Test
	void oneOfManyConcurrentOwnersIsGranted() throws Exception {
		assertOneOwnerEach(Stream.generate(StoreHarness::unusedKey).limit(LOCKS).toList());
	}

	@Test
	void oneOfManyConcurrentOwnersIsGrantedAnExpiredLock() throws Exception {
		List<LockKey> locks = Stream.generate(StoreHarness::unusedKey).limit(LOCKS).toList();
		for (LockKey lock : locks) {
			this.one.grant(lock, this.owner);
			expire(lock, this.owner);
		}
		assertOneOwnerEach(locks);
	}

	@Test
	void anExpiredOwnerDoesNotRenewALockThatNobodyElseHolds() {
		this.one.grant(this.key, this.owner);
		expire(this.key, this.owner);
		this.one.mustNotHold(this.key, this.owner);
		this.two.grant(this.key, this.other);
	}

	@Test
	void anExpiredOwnerDoesNotReleaseALockThatNobodyElseHolds() {
		this.one.grant(this.key, this.owner);
		expire(this.key, this.owner);
		assertThat(this.one.release(this.key, this.owner, null)).isEqualTo(ReleaseOutcome.NOT_OWNER);
		this.two.grant(this.key, this.other);
	}

	/**
	 * Let several owners ask for each lock at the same time.
	 */
	private void assertOneOwnerEach(List<LockKey> locks) throws Exception {
		Set<LockKey> granted = ConcurrentHashMap.newKeySet();
		Phaser rounds = new Phaser(OWNERS);
		List<Jvm> jvms = List.of(this.one, this.two, this.three);
		List<Call<Boolean>> owners = IntStream.range(0, OWNERS)
			.mapToObj((i) -> Callers.start(() -> race(jvms.get(i % jvms.size()), locks, rounds, granted)))
			.toList();
		for (Call<Boolean> each : owners) {
			each.get();
		}
		assertThat(granted).containsExactlyInAnyOrderElementsOf(locks);
	}

	private static boolean race(Jvm jvm, List<LockKey> locks, Phaser rounds, Set<LockKey> granted) {
		try {
			for (LockKey lock : locks) {
				// All owners continue in the same moment, because they do not park
				int before = rounds.arrive();
				while (rounds.getPhase() == before && !rounds.isTerminated()) {
					Thread.yield();
				}
				if (jvm.acquire(lock, OwnerToken.random()) instanceof LockAttempt.Grant) {
					SafetyViolation.check(granted.add(lock), "'%s' was granted to two owners at once", lock);
				}
			}
			return true;
		}
		finally {
			rounds.forceTermination();
		}
	}

}
