// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.LockRefusal;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.ReleaseOutcome;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of every {@link LockStore}, seen from several JVMs that share one store.
 */
public abstract class AbstractLockStoreTests extends AbstractLockModeTests {

	@Test
	void aFreeLockIsGranted() {
		assertThat(this.one.acquire(this.key, this.owner)).isInstanceOf(LockGrant.class);
	}

	@Test
	void aHeldLockIsRefusedWithTheRemainingTime() {
		this.one.grant(this.key, this.owner);
		assertThat(this.two.remaining(this.key, this.other)).isBetween(Duration.ofSeconds(5), LEASE_TIME);
	}

	@Test
	void aHeldLockIsRefusedToAnotherOwnerInTheSameJvm() {
		this.one.grant(this.key, this.owner);
		assertThat(this.one.acquire(this.key, this.other)).isInstanceOf(LockRefusal.class);
	}

	@Test
	void theSameOwnerGetsTheSameFencingBaseAgainAndAFullLease() {
		long base = this.one.grant(this.key, this.owner, Duration.ofSeconds(5));
		assertThat(this.one.grant(this.key, this.owner)).isEqualTo(base);
		assertThat(this.two.remaining(this.key, this.other)).isGreaterThan(Duration.ofSeconds(5));
	}

	@Test
	void anotherOwnerGetsTheLockWhenTheLeaseEndsAndNotBefore() {
		long start = nanoTime();
		this.one.grant(this.key, this.owner, shortLeaseTime());
		takeOver();
		assertThat(Duration.ofNanos(nanoTime() - start))
			.isGreaterThanOrEqualTo(shortLeaseTime().minus(CLOCK_RESOLUTION));
	}

	@Test
	void theOwnerExtendsItsLease() {
		this.one.grant(this.key, this.owner, Duration.ofSeconds(5));
		assertThat(this.one.renew(this.key, this.owner)).isTrue();
		assertThat(this.two.remaining(this.key, this.other)).isGreaterThan(Duration.ofSeconds(5));
	}

	@Test
	void anOwnerCanAskForItsLockWithoutALongerLease() {
		this.one.grant(this.key, this.owner, Duration.ofSeconds(5));
		assertThat(this.one.renew(this.key, this.owner, Duration.ZERO)).isTrue();
		assertThat(this.two.renew(this.key, this.other, Duration.ZERO)).isFalse();
		assertThat(this.two.remaining(this.key, this.other)).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(5));
		this.one.release(this.key, this.owner, null);
		assertThat(this.one.renew(this.key, this.owner, Duration.ZERO)).isFalse();
	}

	@Test
	void nobodyElseExtendsALease() {
		this.one.grant(this.key, this.owner, Duration.ofSeconds(5));
		assertThat(this.two.renew(this.key, this.other)).isFalse();
		assertThat(this.two.remaining(this.key, this.other)).isLessThanOrEqualTo(Duration.ofSeconds(5));
	}

	@Test
	void aFreeLockCannotBeExtended() {
		assertThat(this.one.renew(this.key, this.owner)).isFalse();
		assertThat(this.two.acquire(this.key, this.other)).isInstanceOf(LockGrant.class);
	}

	@Test
	void aLeaseThatEndedCannotBeExtended() {
		this.one.grant(this.key, this.owner, shortLeaseTime());
		takeOver();
		assertThat(this.one.renew(this.key, this.owner)).isFalse();
		this.two.release(this.key, this.other, null);
		assertThat(this.one.renew(this.key, this.owner)).isFalse();
	}

	@Test
	void aReleasedLockIsGrantedToTheNext() {
		this.one.grant(this.key, this.owner);
		assertThat(this.one.release(this.key, this.owner, null)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(this.two.acquire(this.key, this.other)).isInstanceOf(LockGrant.class);
	}

	@Test
	void nobodyElseReleasesALock() {
		this.one.grant(this.key, this.owner);
		assertThat(this.two.release(this.key, this.other, null)).isEqualTo(ReleaseOutcome.NOT_OWNER);
		assertThat(this.one.renew(this.key, this.owner)).isTrue();
	}

	@Test
	void aLateReleaseFreesNobody() {
		this.one.grant(this.key, this.owner, shortLeaseTime());
		takeOver();
		this.three.queue(this.key);
		assertThat(this.one.release(this.key, this.owner, LockMode.EXCLUSIVE)).isEqualTo(ReleaseOutcome.NOT_OWNER);
		assertThat(this.two.renew(this.key, this.other)).isTrue();
		assertHeardNothing(this.three);
	}

	@Test
	void aRepeatedReleaseChangesNothing() {
		this.one.grant(this.key, this.owner);
		this.one.release(this.key, this.owner, null);
		assertThat(this.one.release(this.key, this.owner, null)).isEqualTo(repeatedRelease());
		this.two.grant(this.key, this.other);
		assertThat(this.one.release(this.key, this.owner, null)).isEqualTo(repeatedRelease());
		assertThat(this.two.renew(this.key, this.other)).isTrue();
	}

	@Test
	void theFencingBaseGrowsOverReleases() {
		List<Long> bases = new ArrayList<>();
		for (Jvm jvm : List.of(this.one, this.two, this.two, this.one, this.three, this.one)) {
			OwnerToken next = OwnerToken.random();
			bases.add(jvm.grant(this.key, next));
			jvm.release(this.key, next, null);
		}
		assertThat(bases).isSorted().doesNotHaveDuplicates().allMatch((base) -> base > 0 && base < 1L << 51);
	}

	@Test
	void theFencingBaseGrowsOverTheEndOfALease() {
		long base = this.one.grant(this.key, this.owner, shortLeaseTime());
		assertThat(takeOver()).isGreaterThan(base);
	}

	@Test
	void aWaitingJvmIsNotifiedOfTheRelease() {
		assumeWaitingLine();
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		assertThat(this.one.release(this.key, this.owner, null)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
		assertThat(heardBy(this.two)).containsExactly(this.key);
	}

	@Test
	void aJvmThatDoesNotWaitIsNotNotified() {
		this.one.grant(this.key, this.owner);
		assertThat(this.two.acquire(this.key, this.other)).isInstanceOf(LockRefusal.class);
		assertThat(this.one.release(this.key, this.owner, null)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(heardBy(this.two)).isEmpty();
	}

	@Test
	void onlyTheFirstWaitingJvmIsNotifiedAndTheNextWhenThatWithdraws() {
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		this.three.queue(this.key);
		this.one.release(this.key, this.owner, null);
		assertThat(heardBy(this.two)).containsExactly(this.key);
		assertNotNotified(this.three);
		this.two.withdraw(this.key);
		assertThat(heardBy(this.three)).contains(this.key);
	}

	@Test
	void aWithdrawnJvmIsNotNotified() {
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		this.two.withdraw(this.key);
		assertThat(this.one.release(this.key, this.owner, null)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(heardBy(this.two)).isEmpty();
	}

	@Test
	void withdrawingFromAHeldLockNotifiesNoOther() {
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		this.three.queue(this.key);
		this.two.withdraw(this.key);
		this.two.withdraw(this.key);
		assertThat(heardBy(this.three)).isEmpty();
		assertThat(this.one.release(this.key, this.owner, null)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
		assertThat(heardBy(this.three)).containsExactly(this.key);
	}

	@Test
	void askingAgainKeepsTheTurnInTheQueue() {
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		this.three.queue(this.key);
		this.two.queue(this.key);
		this.one.release(this.key, this.owner, null);
		assertThat(heardBy(this.two)).containsExactly(this.key);
		assertNotNotified(this.three);
	}

	@Test
	void aGrantTakesTheJvmOutOfTheQueue() {
		LockKey key = queueBehindAShortLease();
		takeOver(key);
		assertThat(this.one.release(key, this.other, null)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	/** On a slow machine, the lease may have expired before the next one queues. */
	private LockKey queueBehindAShortLease() {
		return await().until(() -> {
			LockKey key = unusedKey();
			this.one.grant(key, this.owner, shortLeaseTime());
			LockAttempt attempt = this.two.client().acquire(key, OwnerToken.random(), LEASE_TIME, true);
			return (attempt instanceof LockRefusal) ? key : null;
		}, Objects::nonNull);
	}

	@Test
	void aJvmThatReleasesCanQueueBehindTheOneThatWasNotified() {
		assumeWaitingLine();
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		this.three.queue(this.key);
		assertThat(this.one.release(this.key, this.owner, LockMode.EXCLUSIVE))
			.isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
		this.two.grant(this.key, this.other);
		assertThat(this.two.release(this.key, this.other, null)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
		assertThat(heardBy(this.three)).contains(this.key);
		assertNotNotified(this.one);
		this.three.grant(this.key, this.other);
		assertThat(this.three.release(this.key, this.other, null)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
		assertThat(heardBy(this.one)).contains(this.key);
	}

	@Test
	void aJvmThatReleasesDoesNotQueueIfNobodyWaits() {
		this.one.grant(this.key, this.owner);
		assertThat(this.one.release(this.key, this.owner, LockMode.EXCLUSIVE)).isEqualTo(ReleaseOutcome.RELEASED);
		this.two.grant(this.key, this.other);
		assertThat(this.two.release(this.key, this.other, null)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	@Test
	void twoKeysAreTwoLocks() {
		LockKey another = unusedKey();
		this.one.grant(this.key, this.owner);
		this.two.grant(another, this.other);
		this.three.queue(another);
		assertThat(this.one.release(this.key, this.owner, null)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(this.two.renew(another, this.other)).isTrue();
		assumeWaitingLine();
		assertThat(this.two.release(another, this.other, null)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
		assertThat(heardBy(this.three, another)).containsExactly(another);
	}

	@Test
	void hostileKeysAreDifferentLocks() {
		String name = this.key.toString().replace(':', '.');
		List<LockKey> keys = List.of(LockKey.of(name), LockKey.of(name, "a"), LockKey.of(name, "A"),
				LockKey.of(name.toUpperCase(Locale.ROOT), "a"), LockKey.of(name, "a "), LockKey.of(name, "{a}"),
				LockKey.of(name, "%7Ba%7D"), LockKey.of(name, "a}"), LockKey.of(name, "a}:fence"),
				LockKey.of(name, "a:queue"), LockKey.of(name, ":"), LockKey.of(name, "a\nb"), LockKey.of(name, "a\\nb"),
				LockKey.of(name, "a\r\nDEL b"), LockKey.of(name, "a\0"), LockKey.of(name, " a"), LockKey.of(name, "ä"),
				LockKey.of(name, "e"), LockKey.of(name, "é"), LockKey.of(name, "a\u0308"), LockKey.of(name, "\u202Ea"),
				LockKey.of(name, "鍵🔒"), LockKey.of(name, "x".repeat(512)), LockKey.of(name, "x".repeat(511)),
				LockKey.of(name, "{".repeat(512)));
		assertThat(keys).allSatisfy((hostile) -> this.one.grant(hostile, OwnerToken.random()));
		assertThat(keys).allSatisfy((hostile) -> this.two.queue(hostile));
	}

	@Test
	void aHostileKeyIsHeardOfAsItself() {
		LockKey hostile = LockKey.of(this.key.name(), this.key.key() + ":{a}%7B+\n\0 ä🔒");
		this.one.grant(hostile, this.owner);
		this.two.queue(hostile);
		this.one.release(hostile, this.owner, null);
		assertThat(heardBy(this.two, hostile)).containsExactly(hostile);
	}

}
