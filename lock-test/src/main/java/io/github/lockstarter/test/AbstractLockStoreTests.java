// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.ReleaseOutcome;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The contract of every {@link LockStore}, seen from several JVMs that share one store.
 */
public abstract class AbstractLockStoreTests extends AbstractLockModeTests {

	/** For Redlock, a majority has to vote within a third of it. */
	private static final Duration SHORT_LEASE_TIME = Duration.ofSeconds(1);

	@Test
	void aFreeLockIsGranted() {
		this.one.grant(this.key, this.owner);
	}

	@Test
	void aHeldLockIsRefusedWithTheRemainingTime() {
		this.one.grant(this.key, this.owner);
		this.two.mustNotGet(this.key, this.other, SHORTER_LEASE_TIME, LEASE_TIME);
	}

	@Test
	void aHeldLockIsRefusedToAnotherOwnerInTheSameJvm() {
		this.one.grant(this.key, this.owner);
		this.one.mustNotGet(this.key, this.other);
	}

	@Test
	void theSameOwnerGetsTheSameFencingBaseAgainAndAFullLease() {
		long base = this.one.grant(this.key, this.owner, SHORTER_LEASE_TIME);
		assertThat(this.one.grant(this.key, this.owner)).isEqualTo(base);
		this.two.mustNotGet(this.key, this.other, SHORTER_LEASE_TIME, LEASE_TIME);
	}

	@Test
	@Tag("clock")
	void aLeaseEndsByItselfAndNotBeforeItsTime() {
		assumeTrue(isOnRealClock(), "Leases end when a test moves the clock");
		AtomicLong start = new AtomicLong();
		// Servers that stand still do not grant a short lease in time
		await().ignoreExceptions().until(() -> {
			start.set(System.nanoTime());
			return this.one.client()
				.acquire(this.key, this.owner, SHORT_LEASE_TIME, false) instanceof LockAttempt.Grant;
		});
		await().until(() -> this.two.acquire(this.key, this.other) instanceof LockAttempt.Grant);
		// Stores count in milliseconds and may truncate fractions
		SafetyViolation.check(System.nanoTime() - start.get() >= SHORT_LEASE_TIME.minusMillis(2).toNanos(),
				"'%s' was granted to another owner before the end of the lease", this.key);
	}

	@Test
	void anotherOwnerGetsTheLockWhenTheLeaseHasEnded() {
		long base = this.one.grant(this.key, this.owner);
		expire(this.key, this.owner);
		assertGrowing(base, this.two.grant(this.key, this.other));
		this.one.mustNotGet(this.key, this.owner);
	}

	@Test
	void theOwnerExtendsItsLease() {
		this.one.grant(this.key, this.owner, SHORTER_LEASE_TIME);
		this.one.renew(this.key, this.owner);
		this.two.mustNotGet(this.key, this.other, SHORTER_LEASE_TIME, LEASE_TIME);
	}

	@Test
	void anOwnerCanAskForItsLockWithoutALongerLease() {
		this.one.grant(this.key, this.owner, SHORTER_LEASE_TIME);
		this.one.mustHold(this.key, this.owner);
		this.two.mustNotGet(this.key, this.other, Duration.ZERO, SHORTER_LEASE_TIME);
	}

	@Test
	void nobodyElseExtendsALease() {
		this.one.grant(this.key, this.owner, SHORTER_LEASE_TIME);
		this.two.mustNotHold(this.key, this.other);
		this.two.mustNotGet(this.key, this.other, Duration.ZERO, SHORTER_LEASE_TIME);
	}

	@Test
	void aFreeLockCannotBeExtended() {
		this.one.mustNotHold(this.key, this.owner);
		this.two.grant(this.key, this.other);
	}

	@Test
	void aLeaseThatEndedCannotBeExtended() {
		this.one.grant(this.key, this.owner);
		expire(this.key, this.owner);
		this.two.grant(this.key, this.other);
		this.one.mustNotHold(this.key, this.owner);
		this.two.release(this.key, this.other, null);
		this.one.mustNotHold(this.key, this.owner);
	}

	@Test
	void aReleasedLockIsGrantedToTheNext() {
		this.one.grant(this.key, this.owner);
		assertThat(this.one.release(this.key, this.owner, null)).isEqualTo(ReleaseOutcome.RELEASED);
		this.two.grant(this.key, this.other);
	}

	@Test
	void nobodyElseReleasesALock() {
		this.one.grant(this.key, this.owner);
		assertThat(this.two.release(this.key, this.other, null)).isEqualTo(ReleaseOutcome.NOT_OWNER);
		this.one.mustHold(this.key, this.owner);
	}

	@Test
	void aLateReleaseFreesNobody() {
		this.one.grant(this.key, this.owner);
		expire(this.key, this.owner);
		this.two.grant(this.key, this.other);
		this.three.queue(this.key);
		assertThat(this.one.release(this.key, this.owner, LockMode.EXCLUSIVE)).isEqualTo(ReleaseOutcome.NOT_OWNER);
		this.two.mustHold(this.key, this.other);
		assertHeardNothing(this.three);
	}

	@Test
	void aRepeatedReleaseChangesNothing() {
		this.one.grant(this.key, this.owner);
		this.one.release(this.key, this.owner, null);
		assertThat(this.one.release(this.key, this.owner, null)).isEqualTo(repeatedRelease());
		this.two.grant(this.key, this.other);
		assertThat(this.one.release(this.key, this.owner, null)).isEqualTo(repeatedRelease());
		this.two.mustHold(this.key, this.other);
	}

	@Test
	void theFencingBaseGrowsOverReleases() {
		List<Long> bases = new ArrayList<>();
		for (Jvm jvm : List.of(this.one, this.two, this.two, this.one, this.three, this.one)) {
			OwnerToken next = OwnerToken.random();
			bases.add(jvm.grant(this.key, next));
			jvm.release(this.key, next, null);
		}
		assertGrowing(bases.toArray(Long[]::new));
		assertThat(bases).allMatch((base) -> base > 0 && base < 1L << 51);
	}

	@Test
	void aWaitingJvmIsNotifiedOfTheRelease() {
		assumeWaitingLine();
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		assertThat(this.one.release(this.key, this.owner, null)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
		assertThat(heardBy(this.two)).containsOnly(this.key);
	}

	@Test
	void aJvmLearnsWhetherAnotherOneWaits() {
		assumeWaitingLine();
		this.one.grant(this.key, this.owner);
		assertThat(this.one.isAwaited(this.key)).isFalse();
		this.two.queue(this.key);
		assertThat(this.one.isAwaited(this.key)).isTrue();
		this.three.queue(this.key);
		this.one.release(this.key, this.owner, null);
		assertThat(this.two.acquire(this.key, this.other)).isInstanceOfSatisfying(LockAttempt.Grant.class,
				(grant) -> assertThat(grant.awaited()).isTrue());
		this.three.withdraw(this.key);
		assertThat(this.two.isAwaited(this.key)).isFalse();
		assertThat(this.two.acquire(this.key, this.other)).isInstanceOfSatisfying(LockAttempt.Grant.class,
				(grant) -> assertThat(grant.awaited()).isFalse());
	}

	@Test
	void aJvmThatDoesNotWaitIsNotNotified() {
		this.one.grant(this.key, this.owner);
		this.two.mustNotGet(this.key, this.other);
		assertThat(this.one.release(this.key, this.owner, null)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(heardBy(this.two)).isEmpty();
	}

	@Test
	void onlyTheFirstWaitingJvmIsNotifiedAndTheNextWhenThatWithdraws() {
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		this.three.queue(this.key);
		this.one.release(this.key, this.owner, null);
		assertThat(heardBy(this.two)).containsOnly(this.key);
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
		assertThat(heardBy(this.two)).containsOnly(this.key);
		assertNotNotified(this.three);
	}

	@Test
	void aGrantTakesTheJvmOutOfTheQueue() {
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key, this.other);
		expire(this.key, this.owner);
		this.two.grant(this.key, this.other);
		assertThat(this.one.release(this.key, this.other, null)).isEqualTo(ReleaseOutcome.RELEASED);
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
		this.two.mustHold(another, this.other);
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
