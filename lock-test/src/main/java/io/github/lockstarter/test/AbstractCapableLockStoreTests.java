// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of a {@link LockStore} that declares more than it has to: further modes, a
 * waiting line, locks that are kept after their release. A test is skipped if it needs
 * what the store does not declare.
 */
public abstract class AbstractCapableLockStoreTests extends AbstractLockStoreTests {

	/** How long a store of a test reserves a free lock for the one whose turn it is. */
	protected static final Duration RESERVATION = Duration.ofHours(1);

	private static final Duration HOUR = Duration.ofHours(1);

	private static final Duration ALMOST_AN_HOUR = Duration.ofMinutes(50);

	private final OwnerToken reader = OwnerToken.random(LockMode.READ);

	private final OwnerToken otherReader = OwnerToken.random(LockMode.READ);

	private final OwnerToken thirdReader = OwnerToken.random(LockMode.READ);

	private final OwnerToken laterFair = OwnerToken.random(LockMode.FAIR);

	/**
	 * Let the {@linkplain #RESERVATION reservation} of a free lock end now. A store
	 * without a waiting line reserves no lock.
	 */
	protected void endReservation(LockKey key) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Return whether the second JVM in a line is notified as well, because the store does
	 * not know whether the first one is alive.
	 */
	protected boolean notifiesTheSecondAsWell() {
		return false;
	}

	@Test
	void aRefusalNamesTheInstanceThatHadAKeptLock() {
		OwnerToken holder = OwnerToken.random("orders@web-7f9c:1", LockMode.EXCLUSIVE);
		this.one.grant(this.key, holder);
		assertThat(this.one.keep(this.key, holder, HOUR)).isTrue();
		assertThat(this.two.mustNotGet(this.key, this.other).holder()).isEqualTo("orders@web-7f9c:1");
	}

	@Test
	void aWaitingJvmIsNotifiedOfTheRelease() {
		assumeWaitingLine();
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		assertThat(this.one.release(this.key, this.owner)).isTrue();
		assertThat(heardBy(this.two)).containsOnly(this.key);
	}

	@Test
	void aGrantAndAWithdrawalTakeAJvmOutOfTheLine() {
		assumeWaitingLine();
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		this.three.queue(this.key);
		assertThat(this.one.client().waiters(this.key)).hasSize(2);
		this.one.release(this.key, this.owner);
		this.two.grant(this.key, this.other);
		assertThat(this.one.client().waiters(this.key)).hasSize(1);
		this.three.withdraw(this.key);
		assertThat(this.one.client().waiters(this.key)).isEmpty();
	}

	@Test
	void aJvmThatDoesNotWaitIsNotNotified() {
		this.one.grant(this.key, this.owner);
		this.two.mustNotGet(this.key, this.other);
		assertThat(this.one.release(this.key, this.owner)).isTrue();
		assertThat(heardBy(this.two)).isEmpty();
	}

	@Test
	void onlyTheFirstWaitingJvmIsNotifiedAndTheNextWhenThatWithdraws() {
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		this.three.queue(this.key);
		this.one.release(this.key, this.owner);
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
		assertThat(this.one.release(this.key, this.owner)).isTrue();
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
		assertThat(this.one.release(this.key, this.owner)).isTrue();
		assertThat(heardBy(this.three)).containsExactly(this.key);
	}

	@Test
	void askingAgainKeepsTheTurnInTheQueue() {
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		this.three.queue(this.key);
		this.two.queue(this.key);
		this.one.release(this.key, this.owner);
		assertThat(heardBy(this.two)).containsOnly(this.key);
		assertNotNotified(this.three);
	}

	@Test
	void aJvmThatReleasesAndAsksAtOnceStandsBehindTheOneThatWasNotified() {
		assumeWaitingLine();
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		this.three.queue(this.key);
		assertThat(this.one.release(this.key, this.owner)).isTrue();
		// A store may no longer show the one whose turn it is
		int waiters = this.one.client().waiters(this.key).size();
		for (LockMode mode : LockMode.values()) {
			this.one.mustWait(this.key, OwnerToken.random(mode));
		}
		this.one.queue(this.key);
		assertThat(this.one.client().waiters(this.key)).hasSize(waiters + 1);
		this.two.grant(this.key, this.other);
		assertThat(this.one.client().waiters(this.key)).hasSize(2);
		assertThat(this.two.release(this.key, this.other)).isTrue();
		assertThat(heardBy(this.three)).contains(this.key);
		assertNotNotified(this.one);
		this.three.grant(this.key, this.other);
		assertThat(this.three.release(this.key, this.other)).isTrue();
		assertThat(heardBy(this.one)).contains(this.key);
	}

	@Test
	void aHostileKeyIsHeardOfAsItself() {
		LockKey hostile = LockKey.of(this.key.name(), this.key.key() + ":{a}%7B+\n\0 ä🔒");
		this.one.grant(hostile, this.owner);
		this.two.queue(hostile);
		this.one.release(hostile, this.owner);
		assertThat(heardBy(this.two, hostile)).containsExactly(hostile);
	}

	@Test
	void aKeptLockExcludesAllForItsTime() {
		this.one.grant(this.key, this.owner);
		assertThat(keep(HOUR)).isTrue();
		this.two.mustNotGet(this.key, this.other, ALMOST_AN_HOUR, HOUR);
		this.one.mustNotGet(this.key, this.other);
		this.two.mustNotGet(this.key, OwnerToken.random(LockMode.READ));
		this.two.mustNotGet(this.key, OwnerToken.random(LockMode.FAIR));
	}

	@Test
	void aKeptLockIsGrantedWhenItsTimeIsOver() {
		long base = this.one.grant(this.key, this.owner);
		keep(LEASE_TIME);
		this.two.mustNotGet(this.key, this.other);
		expire(this.key, this.owner);
		assertGrowing(base, this.two.grant(this.key, this.other));
	}

	@Test
	void aRenewalThatComesAfterTheKeepChangesNothing() {
		this.one.grant(this.key, this.owner);
		keep(HOUR);
		this.one.mustNotHold(this.key, this.owner);
		this.two.mustNotGet(this.key, this.other, ALMOST_AN_HOUR, HOUR);
		assertThat(this.one.client().renew(this.key, this.owner, HOUR.multipliedBy(2))).isFalse();
		this.two.mustNotGet(this.key, this.other, Duration.ZERO, HOUR);
	}

	@Test
	void anAcquisitionThatComesAfterTheKeepChangesNothing() {
		this.one.grant(this.key, this.owner);
		keep(HOUR);
		this.one.mustNotGet(this.key, this.owner);
		this.two.mustNotGet(this.key, this.other, ALMOST_AN_HOUR, HOUR);
	}

	@Test
	void aReleaseThatComesAfterTheKeepFreesNobody() {
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		keep(HOUR);
		assertThat(this.one.release(this.key, this.owner)).isFalse();
		assertThat(heardBy(this.two)).isEmpty();
		this.two.mustNotGet(this.key, this.other, ALMOST_AN_HOUR, HOUR);
	}

	@Test
	void aRepeatedKeepHasTheSameAnswerAndTheFirstTimeCounts() {
		this.one.grant(this.key, this.owner);
		assertThat(keep(HOUR)).isTrue();
		assertThat(keep(SHORTER_LEASE_TIME)).isTrue();
		this.two.mustNotGet(this.key, this.other, ALMOST_AN_HOUR, HOUR);
	}

	@Test
	void nobodyElseKeepsALock() {
		this.one.grant(this.key, this.owner);
		assertThat(this.two.keep(this.key, this.other, HOUR)).isFalse();
		this.two.mustNotGet(this.key, this.other, Duration.ZERO, LEASE_TIME);
		this.one.mustHold(this.key, this.owner);
	}

	@Test
	void aFreeLockIsNotKept() {
		assertThat(keep(HOUR)).isFalse();
		this.two.grant(this.key, this.other);
	}

	@Test
	void aLockThatSomebodyElseKeepsIsNotKeptAgain() {
		this.two.grant(this.key, this.other);
		this.two.keep(this.key, this.other, HOUR);
		assertThat(keep(HOUR.multipliedBy(2))).isFalse();
		this.two.mustNotGet(this.key, this.owner, Duration.ZERO, HOUR);
	}

	@Test
	void aShareIsNotKept() {
		OwnerToken reader = OwnerToken.random(LockMode.READ);
		this.one.grant(this.key, reader);
		assertThat(this.one.keep(this.key, reader, HOUR)).isFalse();
		this.two.mustNotGet(this.key, this.other, Duration.ZERO, LEASE_TIME);
		this.one.mustHold(this.key, reader);
	}

	@Test
	void twoReadersNeverHaveTheSameFencingBaseThoughOneAsksAgain() {
		long first = this.one.grant(this.key, this.reader);
		long second = this.two.grant(this.key, this.otherReader);
		long again = this.one.grant(this.key, this.reader);
		SafetyViolation.check(first != second && again != second, "Two readers have the same fencing base: %s", second);
		assertThat(again).isGreaterThanOrEqualTo(first);
	}

	@Test
	void aReaderThatIsReleasedTwiceTakesNothingFromOthers() {
		this.one.grant(this.key, this.reader);
		this.two.grant(this.key, this.otherReader);
		assertThat(this.one.release(this.key, this.reader)).isTrue();
		assertThat(this.one.release(this.key, this.reader)).isEqualTo(repeatedRelease());
		this.two.mustHold(this.key, this.otherReader);
		this.three.mustNotGet(this.key, this.owner);
	}

	@Test
	void aReaderThatComesTooLateForItsOwnReleaseIsReleasedOnceMore() {
		this.one.grant(this.key, this.reader);
		this.one.release(this.key, this.reader);
		this.one.grant(this.key, this.reader);
		assertThat(this.one.release(this.key, this.reader)).isTrue();
		this.two.grant(this.key, this.owner);
	}

	@Test
	void aReaderThatAsksAgainIsNotRefusedBecauseAWriterWaits() {
		assumeWaitingLine();
		this.one.grant(this.key, this.reader);
		this.two.queue(this.key, this.owner);
		this.one.grant(this.key, this.reader);
		this.three.mustWait(this.key, this.otherReader);
	}

	@Test
	void aWriterDoesNotGetWhatItAskedForAsAReader() {
		OwnerToken writer = new OwnerToken(this.reader.value(), LockMode.WRITE);
		this.one.grant(this.key, this.reader);
		this.one.mustNotGet(this.key, writer);
		this.one.mustNotHold(this.key, writer);
		assertThat(this.one.release(this.key, writer)).isFalse();
		this.one.mustHold(this.key, this.reader);
	}

	@Test
	void readersBehindAWriterThatWithdrawsAreNotified() {
		this.one.grant(this.key, this.reader);
		this.two.queue(this.key, this.owner);
		this.three.queue(this.key, this.otherReader);
		this.two.withdraw(this.key);
		assertThat(heardBy(this.three)).containsOnly(this.key);
		this.three.grant(this.key, this.otherReader);
		this.one.mustHold(this.key, this.reader);
	}

	@Test
	void readersBehindAFairOwnerThatWithdrawsAreNotified() {
		this.one.grant(this.key, this.reader);
		this.two.arrive(this.key, this.fair);
		this.three.queue(this.key, this.otherReader);
		this.two.withdraw(this.key, this.fair);
		assertThat(heardBy(this.three)).containsOnly(this.key);
		this.three.grant(this.key, this.otherReader);
	}

	@Test
	void readersBehindAnotherWriterAreNotNotified() {
		Jvm four = startJvm();
		this.one.grant(this.key, this.reader);
		this.two.queue(this.key, this.owner);
		this.three.queue(this.key, this.other);
		four.queue(this.key, this.otherReader);
		this.two.withdraw(this.key);
		assertNotNotified(four);
		four.mustWait(this.key, this.otherReader);
	}

	@Test
	void aFairWaiterKeepsItsPlaceThoughAnotherOfItsJvmTakesItsTurn() {
		assertThatAFairWaiterKeepsItsPlaceThoughItsTurnIsTakenIn(LockMode.EXCLUSIVE);
	}

	@Test
	void aFairWaiterKeepsItsPlaceThoughAReaderOfItsJvmTakesItsTurn() {
		assertThatAFairWaiterKeepsItsPlaceThoughItsTurnIsTakenIn(LockMode.READ);
	}

	@Test
	void aFairWaiterKeepsItsPlaceThoughOneOfItsJvmDidNotWaitForItsTurn() {
		assertThatAFairWaiterKeepsItsPlaceThoughItsTurnIsTakenIn(LockMode.FAIR);
	}

	@Test
	void aJvmIsNotifiedOfAnOrphanThatItReleasesWhileItWaits() {
		assumeWaitingLine();
		this.one.grant(this.key, this.owner);
		this.one.queue(this.key);
		this.two.queue(this.key);
		assertThat(this.one.release(this.key, this.owner)).isTrue();
		assertThat(heardBy(this.one)).containsOnly(this.key);
		assertNotNotified(this.two);
	}

	@Test
	void aReadingJvmIsNotifiedOfAnOrphanThatItReleasesWhileItWaits() {
		this.one.grant(this.key, this.reader);
		this.one.queue(this.key, this.owner);
		this.one.release(this.key, this.reader);
		assertThat(heardBy(this.one)).containsOnly(this.key);
		this.one.grant(this.key, this.owner);
		this.one.queue(this.key, this.otherReader);
		this.one.heard().clear();
		this.one.release(this.key, this.owner);
		this.one.grant(this.key, this.otherReader);
		assertThat(heardBy(this.one)).containsOnly(this.key);
	}

	@Test
	void aJvmThatWaitsIsNotifiedWhenOneOfItsFairCallersWithdraws() {
		this.one.grant(this.key, this.owner);
		this.two.arrive(this.key, this.fair);
		this.two.queue(this.key);
		this.one.release(this.key, this.owner);
		assertThat(heardBy(this.two)).hasSizeGreaterThanOrEqualTo(1);
		int heard = this.two.heard().size();
		this.two.withdraw(this.key, this.fair);
		assertThat(heardBy(this.two)).hasSizeGreaterThan(heard);
	}

	@Test
	void aJvmThatWasNotifiedForAWaiterThatHasLeftPassesTheTurnOn() {
		this.one.grant(this.key, this.owner);
		this.two.arrive(this.key, this.fair);
		this.three.arrive(this.key, this.laterFair);
		this.one.release(this.key, this.owner);
		assertThat(heardBy(this.two)).contains(this.key);
		this.two.withdraw(this.key);
		assertThat(heardBy(this.three)).contains(this.key);
		this.three.grant(this.key, this.laterFair);
		assertThat(this.three.release(this.key, this.laterFair)).isTrue();
		assertNobodyWaits();
	}

	@Test
	void aJvmThatAsksForAnotherOwnerThanItWasNotifiedForIsNotLate() {
		this.one.grant(this.key, this.owner);
		this.three.arrive(this.key, this.fair);
		this.one.release(this.key, this.owner);
		// A store that polls tells of the last notification only
		assertThat(heardBy(this.three)).contains(this.key);
		endReservation(this.key);
		this.two.grant(this.key, this.other);
		this.three.queue(this.key);
		assertThat(this.two.release(this.key, this.other)).isTrue();
		assertThat(heardBy(this.three)).hasSizeGreaterThan(1);
	}

	@Test
	void nobodySharesALockWithOneThatGotItInOrderOfArrival() {
		this.one.grant(this.key, this.fair);
		this.two.mustNotGet(this.key, this.reader);
		this.two.mustNotGet(this.key, this.owner);
		assertThat(this.one.release(this.key, this.fair)).isTrue();
		this.two.grant(this.key, this.reader);
		this.one.mustNotGet(this.key, this.laterFair);
	}

	@Test
	void readersShareALock() {
		long base = this.one.grant(this.key, this.reader);
		assertGrowing(base, this.two.grant(this.key, this.otherReader), this.one.grant(this.key, this.thirdReader));
	}

	@Test
	void aReaderExcludesAWriterUntilTheLastOneHasLeft() {
		this.one.grant(this.key, this.reader);
		this.two.grant(this.key, this.otherReader);
		this.three.mustNotGet(this.key, this.owner, SHORTER_LEASE_TIME, LEASE_TIME);
		assertThat(this.one.release(this.key, this.reader)).isTrue();
		this.three.mustNotGet(this.key, this.owner);
		assertThat(this.two.release(this.key, this.otherReader)).isTrue();
		this.three.grant(this.key, this.owner);
	}

	@Test
	void aWriterExcludesReaders() {
		this.one.grant(this.key, OwnerToken.random(LockMode.WRITE));
		this.two.mustNotGet(this.key, this.reader, SHORTER_LEASE_TIME, LEASE_TIME);
		this.one.mustNotGet(this.key, this.reader);
	}

	@Test
	void aFencingBaseGrowsFromReaderToWriterAndBack() {
		long first = this.one.grant(this.key, this.reader);
		this.one.release(this.key, this.reader);
		long second = this.two.grant(this.key, this.owner);
		this.two.release(this.key, this.owner);
		assertGrowing(first, second, this.one.grant(this.key, this.otherReader));
	}

	@Test
	void aReaderThatAsksAgainGetsAFullLease() {
		long base = this.one.grant(this.key, this.reader, SHORTER_LEASE_TIME);
		assertThat(this.one.grant(this.key, this.reader)).isGreaterThanOrEqualTo(base);
		this.two.mustNotGet(this.key, this.owner, SHORTER_LEASE_TIME, LEASE_TIME);
	}

	@Test
	void aReaderExtendsItsOwnLeaseAndNoOther() {
		this.one.grant(this.key, this.reader);
		this.two.grant(this.key, this.otherReader, SHORTER_LEASE_TIME);
		assertThat(this.two.client().renew(this.key, this.otherReader, HOUR)).isTrue();
		expire(this.key, this.reader);
		this.one.mustNotHold(this.key, this.reader);
		assertThat(this.one.release(this.key, this.reader)).isFalse();
		this.two.mustHold(this.key, this.otherReader);
		this.three.mustNotGet(this.key, this.owner);
	}

	@Test
	void aReaderCanAskForItsShareWithoutALongerLease() {
		this.one.grant(this.key, this.reader, SHORTER_LEASE_TIME);
		this.one.mustHold(this.key, this.reader);
		this.two.mustNotHold(this.key, this.otherReader);
		this.two.mustNotGet(this.key, this.owner, Duration.ZERO, SHORTER_LEASE_TIME);
		this.one.release(this.key, this.reader);
		this.one.mustNotHold(this.key, this.reader);
	}

	@Test
	void aCrashedReaderFreesItsShareWhenItsOwnLeaseEnds() {
		this.one.grant(this.key, this.reader);
		this.two.grant(this.key, this.otherReader, HOUR);
		this.two.release(this.key, this.otherReader);
		this.three.mustNotGet(this.key, this.owner);
		expire(this.key, this.reader);
		this.three.grant(this.key, this.owner);
	}

	@Test
	void aWriterIsNotifiedByTheLastReleaseThoughACrashedReaderIsLeft() {
		assumeWaitingLine();
		this.one.grant(this.key, this.reader);
		this.two.grant(this.key, this.otherReader, HOUR);
		this.three.queue(this.key, this.owner);
		expire(this.key, this.reader);
		this.two.release(this.key, this.otherReader);
		assertThat(heardBy(this.three)).contains(this.key);
		this.three.grant(this.key, this.owner);
	}

	@Test
	void theLeaseOfAReaderIsNotShortenedByOneThatHasLess() {
		this.one.grant(this.key, this.reader);
		this.two.grant(this.key, this.otherReader, SHORTER_LEASE_TIME);
		this.two.release(this.key, this.otherReader);
		this.three.mustNotGet(this.key, this.owner, SHORTER_LEASE_TIME, LEASE_TIME);
	}

	@Test
	void aReaderThatDoesNotHoldTheLockChangesNothing() {
		this.one.grant(this.key, this.reader);
		assertThat(this.two.release(this.key, this.otherReader)).isFalse();
		this.two.mustNotHold(this.key, this.otherReader);
		assertThat(this.two.release(this.key, this.owner)).isFalse();
		this.two.mustNotHold(this.key, this.owner);
		this.two.mustNotGet(this.key, this.owner);
	}

	@Test
	void aWaitingWriterComesBeforeReadersThatComeLater() {
		assumeWaitingLine();
		this.one.grant(this.key, this.reader);
		this.two.queue(this.key, this.owner);
		this.three.queue(this.key, this.otherReader);
		assertThat(this.one.release(this.key, this.reader)).isTrue();
		assertThat(heardBy(this.two)).containsExactly(this.key);
		assertNotNotified(this.three);
		this.two.grant(this.key, this.owner);
	}

	@Test
	void aReaderIsAdmittedWhenTheWaitingWriterWithdraws() {
		this.one.grant(this.key, this.reader);
		this.two.queue(this.key, this.owner);
		this.three.queue(this.key, this.otherReader);
		this.two.withdraw(this.key);
		this.three.grant(this.key, this.otherReader);
	}

	@Test
	void readersThatWaitSideBySideAreNotifiedTogether() {
		assumeWaitingLine();
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key, this.reader);
		this.three.queue(this.key, this.otherReader);
		assertThat(this.one.release(this.key, this.owner)).isTrue();
		assertThat(heardBy(this.two)).containsExactly(this.key);
		assertThat(heardBy(this.three)).containsExactly(this.key);
		this.three.grant(this.key, this.otherReader);
		this.two.grant(this.key, this.reader);
		this.one.mustNotGet(this.key, this.other);
	}

	@Test
	void aReaderBehindAWriterIsNotNotifiedWithTheReadersBeforeIt() {
		Jvm four = startJvm();
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key, this.reader);
		this.three.queue(this.key, this.other);
		four.queue(this.key, this.otherReader);
		this.one.release(this.key, this.owner);
		assertThat(heardBy(this.two)).containsExactly(this.key);
		assertNotNotified(four);
		this.two.grant(this.key, this.reader);
		four.mustWait(this.key, this.otherReader);
	}

	@Test
	void aJvmWhoseReaderFollowsOnItsWriterKeepsItsPlace() {
		this.one.grant(this.key, this.reader);
		this.two.queue(this.key, this.owner);
		this.three.queue(this.key, this.other);
		this.two.grant(this.key, this.otherReader);
		this.two.queue(this.key, this.owner);
		assertThat(this.one.client().waiters(this.key)).hasSizeGreaterThanOrEqualTo(2);
	}

	@Test
	void nothingIsLeftOfAReader() {
		this.one.grant(this.key, this.reader);
		this.one.release(this.key, this.reader);
		this.two.grant(this.key, this.owner);
		assertThat(this.two.release(this.key, this.owner)).isTrue();
		assertNobodyWaits();
		assertThat(this.one.release(this.key, this.reader)).isEqualTo(repeatedRelease());
	}

	@Test
	void aLockIsGrantedInOrderOfArrival() {
		List<OwnerToken> owners = List.of(fair(), fair(), fair(), fair());
		List<Jvm> jvms = List.of(this.two, this.three, this.two, this.one);
		this.one.grant(this.key, this.owner);
		for (int i = 0; i < owners.size(); i++) {
			jvms.get(i).arrive(this.key, owners.get(i));
		}
		this.one.release(this.key, this.owner);
		for (int i = 0; i < owners.size(); i++) {
			for (int later = i + 1; later < owners.size(); later++) {
				if (jvms.get(later) != jvms.get(i)) {
					jvms.get(later).mustWait(this.key, owners.get(later));
				}
			}
			jvms.get(i).grant(this.key, owners.get(i));
			jvms.get(i).release(this.key, owners.get(i));
		}
		this.one.grant(this.key, this.other);
	}

	@Test
	void nobodyOvertakesOneThatWaitsInOrderOfArrivalForALockThatBecameFreeByItself() {
		this.one.grant(this.key, this.owner);
		this.two.arrive(this.key, this.fair);
		expire(this.key, this.owner);
		// It may overtake if it asks again before the first one comes
		this.three.mustWait(this.key, this.laterFair);
		await().until(() -> this.two.heard().contains(this.key));
		this.two.grant(this.key, this.fair);
		this.three.mustNotGet(this.key, this.laterFair);
	}

	@Test
	void aFreeLockIsReservedForTheJvmThatWasNotified() {
		assumeWaitingLine();
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		this.one.release(this.key, this.owner);
		for (LockMode mode : LockMode.values()) {
			this.three.mustWait(this.key, OwnerToken.random(mode));
		}
		this.two.grant(this.key, this.other);
	}

	@Test
	void aWaiterThatWasNotifiedAndDoesNotComeIsPassedOver() {
		twoWaitInOrderOfArrival();
		this.one.release(this.key, this.owner);
		this.three.mustWait(this.key, this.laterFair);
		endReservation(this.key);
		this.three.grant(this.key, this.laterFair);
		this.two.mustNotGet(this.key, this.fair);
	}

	@Test
	void aWaiterThatWithdrawsDelaysNoOther() {
		twoWaitInOrderOfArrival();
		this.two.withdraw(this.key, this.fair);
		this.one.release(this.key, this.owner);
		assertNotNotified(this.two);
		assertThat(heardBy(this.three)).containsExactly(this.key);
		this.three.grant(this.key, this.laterFair);
	}

	@Test
	void aWaiterThatWithdrawsWhenItIsItsTurnPassesItOn() {
		twoWaitInOrderOfArrival();
		this.one.release(this.key, this.owner);
		this.two.withdraw(this.key, this.fair);
		assertThat(heardBy(this.three)).contains(this.key);
		this.three.grant(this.key, this.laterFair);
	}

	@Test
	void aJvmThatLetsItsOwnCallersInTheOtherWayRoundTakesNothingFromOthers() {
		OwnerToken early = fair();
		OwnerToken between = fair();
		OwnerToken late = fair();
		this.one.grant(this.key, this.owner);
		this.two.arrive(this.key, early);
		this.three.arrive(this.key, between);
		this.two.arrive(this.key, late);
		this.one.release(this.key, this.owner);
		this.two.grant(this.key, late);
		this.two.release(this.key, late);
		this.two.mustWait(this.key, early);
		this.three.grant(this.key, between);
		this.three.release(this.key, between);
		this.two.grant(this.key, early);
	}

	@Test
	void aWaiterHasTheNameOfItsInstance() throws Exception {
		LockInspection inspection = inspection();
		assumeWaitingLine();
		LockStore named = createStore();
		try {
			named.setInstance("orders@web-2:1");
			this.one.grant(this.key, this.owner);
			OwnerToken waiter = OwnerToken.random("orders@web-2:1", LockMode.EXCLUSIVE);
			assertThat(new StoreClient(named).acquire(this.key, waiter, LEASE_TIME, true))
				.isInstanceOf(AcquireResult.Refusal.class);
			assertThat(state(inspection).waiters()).containsExactly("orders@web-2:1");
		}
		finally {
			if (named instanceof AutoCloseable closeable) {
				closeable.close();
			}
		}
	}

	@Test
	void theStateOfASharedLockNamesAllReaders() {
		LockInspection inspection = inspection();
		this.one.grant(this.key, OwnerToken.random("orders@web-1:1", LockMode.READ));
		long last = this.two.grant(this.key, OwnerToken.random("orders@web-2:1", LockMode.READ));
		LockInspection.State state = state(inspection);
		assertThat(state.holders()).extracting(LockInspection.Holder::name)
			.containsExactlyInAnyOrder("orders@web-1:1", "orders@web-2:1");
		assertThat(state.holders()).extracting(LockInspection.Holder::mode).containsOnly(LockMode.READ);
		assertThat(state.fencingToken()).isEqualTo(LockInspection.tokenOf(last));
	}

	@Test
	void aSharedLockIsFreedIfTheTokensOfAllGrantsAreKnown() {
		LockInspection inspection = inspection();
		long first = this.one.grant(this.key, this.reader);
		long last = this.two.grant(this.key, this.otherReader);
		// Only some stores know the first grant after the second one
		free(inspection, first);
		assertThat(free(inspection, last)).isTrue();
		assertThat(state(inspection).holders()).isEmpty();
		this.one.mustNotHold(this.key, this.reader);
		this.two.mustNotHold(this.key, this.otherReader);
		assertGrowing(last, this.three.grant(this.key, this.owner));
	}

	@Test
	void aKeptLockIsShownAsSuchAndFreed() {
		LockInspection inspection = inspection();
		long base = this.one.grant(this.key, this.owner);
		assertThat(keep(HOUR)).isTrue();
		assertThat(state(inspection).holders()).extracting(LockInspection.Holder::kept).containsExactly(true);
		assertThat(free(inspection, base)).isTrue();
		this.two.grant(this.key, this.other);
	}

	private boolean keep(Duration time) {
		return this.one.keep(this.key, this.owner, time);
	}

	private void assertThatAFairWaiterKeepsItsPlaceThoughItsTurnIsTakenIn(LockMode mode) {
		OwnerToken hasty = OwnerToken.random(mode);
		this.one.grant(this.key, this.owner);
		this.two.arrive(this.key, this.fair);
		this.three.arrive(this.key, this.laterFair);
		this.one.release(this.key, this.owner);
		this.two.grant(this.key, hasty);
		this.two.release(this.key, hasty);
		this.three.mustWait(this.key, this.laterFair);
		this.two.grant(this.key, this.fair);
	}

	private void twoWaitInOrderOfArrival() {
		this.one.grant(this.key, this.owner);
		this.two.arrive(this.key, this.fair);
		this.three.arrive(this.key, this.laterFair);
	}

	private static OwnerToken fair() {
		return OwnerToken.random(LockMode.FAIR);
	}

	protected final void assertNotNotified(Jvm jvm) {
		assertThat(heardBy(jvm)).hasSizeLessThanOrEqualTo(notifiesTheSecondAsWell() ? 1 : 0);
	}

}
