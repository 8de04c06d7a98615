// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockRefusal;
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
		assertThat(this.one.grant(this.key, this.reader)).isNotEqualTo(second).isGreaterThanOrEqualTo(first);
	}

	@Test
	void aReaderThatIsReleasedTwiceTakesNothingFromOthers() {
		this.one.grant(this.key, this.reader);
		this.two.grant(this.key, this.otherReader);
		assertThat(this.one.release(this.key, this.reader, null)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(this.one.release(this.key, this.reader, null)).isEqualTo(repeatedRelease());
		assertThat(this.two.renew(this.key, this.otherReader)).isTrue();
		assertThat(this.three.acquire(this.key, this.owner)).isInstanceOf(LockRefusal.class);
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
		assertThat(this.three.acquire(this.key, this.otherReader)).isInstanceOf(LockRefusal.class);
	}

	@Test
	void aWriterDoesNotGetWhatItAskedForAsAReader() {
		OwnerToken writer = new OwnerToken(this.reader.value(), LockMode.WRITE);
		this.one.grant(this.key, this.reader);
		assertThat(this.one.acquire(this.key, writer)).isInstanceOf(LockRefusal.class);
		assertThat(this.one.renew(this.key, writer)).isFalse();
		assertThat(this.one.release(this.key, writer, null)).isEqualTo(ReleaseOutcome.NOT_OWNER);
		assertThat(this.one.renew(this.key, this.reader)).isTrue();
	}

	@Test
	void readersBehindAWriterThatWithdrawsAreNotified() {
		this.one.grant(this.key, this.reader);
		this.two.queue(this.key, this.owner);
		this.three.queue(this.key, this.otherReader);
		this.two.withdraw(this.key);
		assertThat(heardBy(this.three)).containsExactly(this.key);
		this.three.grant(this.key, this.otherReader);
		assertThat(this.one.renew(this.key, this.reader)).isTrue();
	}

	@Test
	void readersBehindAFairOwnerThatWithdrawsAreNotified() {
		this.one.grant(this.key, this.reader);
		this.two.arrive(this.key, this.fair);
		this.three.queue(this.key, this.otherReader);
		this.two.withdraw(this.key, this.fair);
		assertThat(heardBy(this.three)).containsExactly(this.key);
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
		assertThat(four.acquire(this.key, this.otherReader)).isInstanceOf(LockRefusal.class);
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
		Reservation.test((reservation) -> {
			OwnerToken holder = OwnerToken.random();
			OwnerToken hasty = OwnerToken.random(mode);
			OwnerToken first = OwnerToken.random(LockMode.FAIR);
			OwnerToken later = OwnerToken.random(LockMode.FAIR);
			this.one.grant(reservation.key(), holder);
			this.two.arrive(reservation.key(), first);
			this.three.arrive(reservation.key(), later);
			reservation.release(this.one, holder, null);
			reservation.grants(this.two, hasty);
			reservation.release(this.two, hasty, LockMode.FAIR);
			reservation.refuses(this.three, later);
			reservation.grants(this.two, first);
		});
	}

	@Test
	void aJvmIsNotifiedOfAnOrphanThatItReleasesWhileItWaits() {
		assumeWaitingLine();
		this.one.grant(this.key, this.owner);
		this.one.queue(this.key);
		this.two.queue(this.key);
		assertThat(this.one.release(this.key, this.owner, null)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
		assertThat(heardBy(this.one)).containsExactly(this.key);
		assertNotNotified(this.two);
	}

	@Test
	void aReadingJvmIsNotifiedOfAnOrphanThatItReleasesWhileItWaits() {
		this.one.grant(this.key, this.reader);
		this.one.queue(this.key, this.owner);
		this.one.release(this.key, this.reader, null);
		assertThat(heardBy(this.one)).containsExactly(this.key);
		this.one.grant(this.key, this.owner);
		this.one.queue(this.key, this.otherReader);
		this.one.release(this.key, this.owner, null);
		this.one.grant(this.key, this.otherReader);
		assertThat(heardBy(this.one)).containsExactly(this.key, this.key);
	}

	@Test
	void aJvmThatReleasesForItsNextCallerIsNotifiedAfterAllOthers() {
		this.one.grant(this.key, this.owner);
		this.one.queue(this.key);
		this.two.queue(this.key);
		this.one.release(this.key, this.owner, LockMode.EXCLUSIVE);
		assertThat(heardBy(this.two)).containsExactly(this.key);
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
		assertThat(heardBy(this.two)).hasSize(heard + 1);
	}

	@Test
	void aJvmThatWasNotifiedForAWaiterThatHasLeftPassesTheTurnOn() {
		Reservation.test((reservation) -> {
			LockKey key = reservation.key();
			OwnerToken holder = OwnerToken.random();
			OwnerToken first = OwnerToken.random(LockMode.FAIR);
			OwnerToken later = OwnerToken.random(LockMode.FAIR);
			this.one.grant(key, holder);
			this.two.arrive(key, first);
			this.three.arrive(key, later);
			reservation.release(this.one, holder, null);
			assertThat(heardBy(this.two, key)).contains(key);
			this.two.withdraw(key);
			reservation.check(() -> assertThat(heardBy(this.three, key)).contains(key));
			this.three.grant(key, later);
			assertThat(this.three.release(key, later, null)).isEqualTo(ReleaseOutcome.RELEASED);
		});
	}

	@Test
	void aJvmThatAsksForAnotherOwnerThanItWasNotifiedForIsNotLate() {
		this.one.grant(this.key, this.owner);
		this.three.arrive(this.key, this.fair);
		this.one.release(this.key, this.owner, null);
		takeOver();
		this.three.queue(this.key);
		assertThat(this.two.release(this.key, this.other, null)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
		assertThat(heardBy(this.three)).hasSizeGreaterThan(1);
	}

	@Test
	void nobodySharesALockWithOneThatGotItInOrderOfArrival() {
		this.one.grant(this.key, this.fair);
		assertThat(this.two.acquire(this.key, this.reader)).isInstanceOf(LockRefusal.class);
		assertThat(this.two.acquire(this.key, this.owner)).isInstanceOf(LockRefusal.class);
		assertThat(this.one.release(this.key, this.fair, null)).isEqualTo(ReleaseOutcome.RELEASED);
		this.two.grant(this.key, this.reader);
		assertThat(this.one.acquire(this.key, this.laterFair)).isInstanceOf(LockRefusal.class);
	}

}
