// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.ReleaseOutcome;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The part of the contract of every {@link LockStore} that is about owners in several
 * modes at one lock, and about their repeated and late requests.
 */
abstract class AbstractMixedModeTests extends AbstractKeptLockTests {

	private final OwnerToken reader = OwnerToken.random(LockMode.READ);

	private final OwnerToken otherReader = OwnerToken.random(LockMode.READ);

	private final OwnerToken fair = OwnerToken.random(LockMode.FAIR);

	private final OwnerToken laterFair = OwnerToken.random(LockMode.FAIR);

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
		assertThat(this.one.release(this.key, this.reader, null)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(this.one.release(this.key, this.reader, null)).isEqualTo(repeatedRelease());
		this.two.mustHold(this.key, this.otherReader);
		this.three.mustNotGet(this.key, this.owner);
	}

	@Test
	void aReaderThatComesTooLateForItsOwnReleaseIsReleasedOnceMore() {
		this.one.grant(this.key, this.reader);
		this.one.release(this.key, this.reader, null);
		this.one.grant(this.key, this.reader);
		assertThat(this.one.release(this.key, this.reader, null)).isEqualTo(ReleaseOutcome.RELEASED);
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
		assertThat(this.one.release(this.key, writer, null)).isEqualTo(ReleaseOutcome.NOT_OWNER);
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

	private void assertThatAFairWaiterKeepsItsPlaceThoughItsTurnIsTakenIn(LockMode mode) {
		OwnerToken hasty = OwnerToken.random(mode);
		this.one.grant(this.key, this.owner);
		this.two.arrive(this.key, this.fair);
		this.three.arrive(this.key, this.laterFair);
		this.one.release(this.key, this.owner, null);
		this.two.grant(this.key, hasty);
		this.two.release(this.key, hasty, LockMode.FAIR);
		this.three.mustWait(this.key, this.laterFair);
		this.two.grant(this.key, this.fair);
	}

	@Test
	void aJvmIsNotifiedOfAnOrphanThatItReleasesWhileItWaits() {
		assumeWaitingLine();
		this.one.grant(this.key, this.owner);
		this.one.queue(this.key);
		this.two.queue(this.key);
		assertThat(this.one.release(this.key, this.owner, null)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
		assertThat(heardBy(this.one)).containsOnly(this.key);
		assertNotNotified(this.two);
	}

	@Test
	void aReadingJvmIsNotifiedOfAnOrphanThatItReleasesWhileItWaits() {
		this.one.grant(this.key, this.reader);
		this.one.queue(this.key, this.owner);
		this.one.release(this.key, this.reader, null);
		assertThat(heardBy(this.one)).containsOnly(this.key);
		this.one.grant(this.key, this.owner);
		this.one.queue(this.key, this.otherReader);
		this.one.heard().clear();
		this.one.release(this.key, this.owner, null);
		this.one.grant(this.key, this.otherReader);
		assertThat(heardBy(this.one)).containsOnly(this.key);
	}

	@Test
	void aJvmThatReleasesForItsNextCallerIsNotifiedAfterAllOthers() {
		this.one.grant(this.key, this.owner);
		this.one.queue(this.key);
		this.two.queue(this.key);
		this.one.release(this.key, this.owner, LockMode.EXCLUSIVE);
		assertThat(heardBy(this.two)).containsOnly(this.key);
		assertNotNotified(this.one);
		this.two.grant(this.key, this.other);
		this.two.release(this.key, this.other, null);
		assertThat(heardBy(this.one)).contains(this.key);
	}

	@Test
	void aJvmThatWaitsIsNotifiedWhenOneOfItsFairCallersWithdraws() {
		this.one.grant(this.key, this.owner);
		this.two.arrive(this.key, this.fair);
		this.two.queue(this.key);
		this.one.release(this.key, this.owner, null);
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
		this.one.release(this.key, this.owner, null);
		assertThat(heardBy(this.two)).contains(this.key);
		this.two.withdraw(this.key);
		assertThat(heardBy(this.three)).contains(this.key);
		this.three.grant(this.key, this.laterFair);
		assertThat(this.three.release(this.key, this.laterFair, null)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	@Test
	void aJvmThatAsksForAnotherOwnerThanItWasNotifiedForIsNotLate() {
		this.one.grant(this.key, this.owner);
		this.three.arrive(this.key, this.fair);
		this.one.release(this.key, this.owner, null);
		// A store that polls tells of the last notification only
		assertThat(heardBy(this.three)).contains(this.key);
		endReservation(this.key);
		this.two.grant(this.key, this.other);
		this.three.queue(this.key);
		assertThat(this.two.release(this.key, this.other, null)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
		assertThat(heardBy(this.three)).hasSizeGreaterThan(1);
	}

	@Test
	void nobodySharesALockWithOneThatGotItInOrderOfArrival() {
		this.one.grant(this.key, this.fair);
		this.two.mustNotGet(this.key, this.reader);
		this.two.mustNotGet(this.key, this.owner);
		assertThat(this.one.release(this.key, this.fair, null)).isEqualTo(ReleaseOutcome.RELEASED);
		this.two.grant(this.key, this.reader);
		this.one.mustNotGet(this.key, this.laterFair);
	}

}
