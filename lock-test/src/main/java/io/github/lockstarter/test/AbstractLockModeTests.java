// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.ReleaseOutcome;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The part of the contract of every {@link LockStore} that is about shared locks and FAIR
 * order.
 */
abstract class AbstractLockModeTests extends AbstractMixedModeTests {

	/** Still runs when another lease has ended. */
	private static final Duration LONGER_LEASE_TIME = Duration.ofHours(1);

	private final OwnerToken reader = OwnerToken.random(LockMode.READ);

	private final OwnerToken otherReader = OwnerToken.random(LockMode.READ);

	private final OwnerToken thirdReader = OwnerToken.random(LockMode.READ);

	private final OwnerToken first = fair();

	private final OwnerToken second = fair();

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
		assertThat(this.one.release(this.key, this.reader, null)).isEqualTo(ReleaseOutcome.RELEASED);
		this.three.mustNotGet(this.key, this.owner);
		assertThat(this.two.release(this.key, this.otherReader, null)).isEqualTo(ReleaseOutcome.RELEASED);
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
		this.one.release(this.key, this.reader, null);
		long second = this.two.grant(this.key, this.owner);
		this.two.release(this.key, this.owner, null);
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
		assertThat(this.two.client().renew(this.key, this.otherReader, LONGER_LEASE_TIME)).isTrue();
		expire(this.key, this.reader);
		this.one.mustNotHold(this.key, this.reader);
		assertThat(this.one.release(this.key, this.reader, null)).isEqualTo(ReleaseOutcome.NOT_OWNER);
		this.two.mustHold(this.key, this.otherReader);
		this.three.mustNotGet(this.key, this.owner);
	}

	@Test
	void aReaderCanAskForItsShareWithoutALongerLease() {
		this.one.grant(this.key, this.reader, SHORTER_LEASE_TIME);
		this.one.mustHold(this.key, this.reader);
		this.two.mustNotHold(this.key, this.otherReader);
		this.two.mustNotGet(this.key, this.owner, Duration.ZERO, SHORTER_LEASE_TIME);
		this.one.release(this.key, this.reader, null);
		this.one.mustNotHold(this.key, this.reader);
	}

	@Test
	void aCrashedReaderFreesItsShareWhenItsOwnLeaseEnds() {
		this.one.grant(this.key, this.reader);
		this.two.grant(this.key, this.otherReader, LONGER_LEASE_TIME);
		this.two.release(this.key, this.otherReader, null);
		this.three.mustNotGet(this.key, this.owner);
		expire(this.key, this.reader);
		this.three.grant(this.key, this.owner);
	}

	@Test
	void theLeaseOfAReaderIsNotShortenedByOneThatHasLess() {
		this.one.grant(this.key, this.reader);
		this.two.grant(this.key, this.otherReader, SHORTER_LEASE_TIME);
		this.two.release(this.key, this.otherReader, null);
		this.three.mustNotGet(this.key, this.owner, SHORTER_LEASE_TIME, LEASE_TIME);
	}

	@Test
	void aReaderThatDoesNotHoldTheLockChangesNothing() {
		this.one.grant(this.key, this.reader);
		assertThat(this.two.release(this.key, this.otherReader, null)).isEqualTo(ReleaseOutcome.NOT_OWNER);
		this.two.mustNotHold(this.key, this.otherReader);
		assertThat(this.two.release(this.key, this.owner, null)).isEqualTo(ReleaseOutcome.NOT_OWNER);
		this.two.mustNotHold(this.key, this.owner);
		this.two.mustNotGet(this.key, this.owner);
	}

	@Test
	void aWaitingWriterComesBeforeReadersThatComeLater() {
		assumeWaitingLine();
		this.one.grant(this.key, this.reader);
		this.two.queue(this.key, this.owner);
		this.three.queue(this.key, this.otherReader);
		assertThat(this.one.release(this.key, this.reader, null)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
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
		assertThat(this.one.release(this.key, this.owner, LockMode.EXCLUSIVE))
			.isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
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
		this.one.release(this.key, this.owner, null);
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
		assertThat(this.one.isAwaited(this.key)).isTrue();
	}

	@Test
	void nothingIsLeftOfAReader() {
		this.one.grant(this.key, this.reader);
		this.one.release(this.key, this.reader, null);
		this.two.grant(this.key, this.owner);
		assertThat(this.two.release(this.key, this.owner, null)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(this.one.release(this.key, this.reader, null)).isEqualTo(repeatedRelease());
	}

	@Test
	void aLockIsGrantedInOrderOfArrival() {
		List<OwnerToken> owners = List.of(fair(), fair(), fair(), fair());
		List<Jvm> jvms = List.of(this.two, this.three, this.two, this.one);
		this.one.grant(this.key, this.owner);
		for (int i = 0; i < owners.size(); i++) {
			jvms.get(i).arrive(this.key, owners.get(i));
		}
		this.one.release(this.key, this.owner, null);
		for (int i = 0; i < owners.size(); i++) {
			for (int later = i + 1; later < owners.size(); later++) {
				if (jvms.get(later) != jvms.get(i)) {
					jvms.get(later).mustWait(this.key, owners.get(later));
				}
			}
			jvms.get(i).grant(this.key, owners.get(i));
			jvms.get(i).release(this.key, owners.get(i), null);
		}
		this.one.grant(this.key, this.other);
	}

	@Test
	void nobodyOvertakesOneThatWaitsInOrderOfArrivalForALockThatBecameFreeByItself() {
		this.one.grant(this.key, this.owner);
		this.two.arrive(this.key, this.first);
		expire(this.key, this.owner);
		// It may overtake if it asks again before the first one comes
		this.three.mustWait(this.key, this.second);
		await().until(() -> this.two.heard().contains(this.key));
		this.two.grant(this.key, this.first);
		this.three.mustNotGet(this.key, this.second);
	}

	@Test
	void aFreeLockIsReservedForTheJvmThatWasNotified() {
		assumeWaitingLine();
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		this.one.release(this.key, this.owner, null);
		for (LockMode mode : LockMode.values()) {
			this.three.mustWait(this.key, OwnerToken.random(mode));
		}
		this.two.grant(this.key, this.other);
	}

	@Test
	void severalLocksAreNotGrantedTogetherWhileOneIsReserved() {
		List<LeaseRequest> requests = together(this.owner, this.other);
		LockKey reserved = requests.get(1).key();
		OwnerToken holder = OwnerToken.random();
		this.one.grant(reserved, holder);
		this.two.queue(reserved);
		this.one.release(reserved, holder, null);
		assertThat(this.three.acquireAll(requests)).isEmpty();
		this.two.grant(reserved, this.other);
	}

	@Test
	void aWaiterThatWasNotifiedAndDoesNotComeIsPassedOver() {
		twoWaitInOrderOfArrival();
		this.one.release(this.key, this.owner, null);
		this.three.mustWait(this.key, this.second);
		endReservation(this.key);
		this.three.grant(this.key, this.second);
		this.two.mustNotGet(this.key, this.first);
	}

	@Test
	void aWaiterThatWithdrawsDelaysNoOther() {
		twoWaitInOrderOfArrival();
		this.two.withdraw(this.key, this.first);
		this.one.release(this.key, this.owner, null);
		assertNotNotified(this.two);
		assertThat(heardBy(this.three)).containsExactly(this.key);
		this.three.grant(this.key, this.second);
	}

	@Test
	void aWaiterThatWithdrawsWhenItIsItsTurnPassesItOn() {
		twoWaitInOrderOfArrival();
		this.one.release(this.key, this.owner, null);
		this.two.withdraw(this.key, this.first);
		assertThat(heardBy(this.three)).contains(this.key);
		this.three.grant(this.key, this.second);
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
		this.one.release(this.key, this.owner, null);
		this.two.grant(this.key, late);
		this.two.release(this.key, late, null);
		this.two.mustWait(this.key, early);
		this.three.grant(this.key, between);
		this.three.release(this.key, between, null);
		this.two.grant(this.key, early);
	}

	@Test
	void severalLocksAreGrantedTogetherOrNotAtAll() {
		List<LeaseRequest> requests = together(this.owner, this.other);
		List<LockAttempt.Grant> grants = this.one.acquireAll(requests);
		assertThat(grants).hasSize(2).extracting(LockAttempt.Grant::awaited).containsExactly(false, false);
		assertThat(this.one.grant(requests.get(0).key(), this.owner)).isEqualTo(grants.get(0).fencingBase());
		assertThat(this.one.acquireAll(requests)).isEqualTo(grants);
		this.one.release(requests.get(0).key(), this.owner, null);
		List<LeaseRequest> overlapping = List.of(requests.get(0),
				new LeaseRequest(requests.get(1).key(), OwnerToken.random(), LEASE_TIME));
		assertThat(this.two.acquireAll(overlapping)).isEmpty();
		assertGrowing(grants.get(0).fencingBase(), this.two.grant(requests.get(0).key(), OwnerToken.random()));
	}

	@Test
	void oneWhoseTurnItIsGetsSeveralLocksAndLeavesTheQueue() {
		List<LeaseRequest> requests = together(this.owner, this.other);
		LockKey contended = requests.get(1).key();
		OwnerToken holder = OwnerToken.random();
		this.one.grant(contended, holder);
		this.two.queue(contended);
		this.one.release(contended, holder, null);
		assertThat(heardBy(this.two)).containsExactly(contended);
		assertThat(this.two.acquireAll(requests)).hasSize(2);
		assertThat(this.one.isAwaited(contended)).isFalse();
	}

	@Test
	void oneOfTheSameJvmThatIsTakenTogetherWithOthersCostsNobodyAPlace() {
		List<LeaseRequest> requests = together(this.owner, this.other);
		LockKey contended = requests.get(1).key();
		OwnerToken holder = OwnerToken.random();
		OwnerToken waiting = fair();
		this.one.grant(contended, holder);
		this.two.arrive(contended, waiting);
		this.one.release(contended, holder, null);
		assertThat(this.two.acquireAll(requests)).hasSize(2);
		this.two.release(contended, this.other, null);
		assertThat(heardBy(this.two)).contains(contended);
		this.two.grant(contended, waiting);
	}

	private void twoWaitInOrderOfArrival() {
		this.one.grant(this.key, this.owner);
		this.two.arrive(this.key, this.first);
		this.three.arrive(this.key, this.second);
	}

	/** In a cluster they must be in one slot. */
	private List<LeaseRequest> together(OwnerToken first, OwnerToken second) {
		LeaseRequest one = new LeaseRequest(this.key, first, LEASE_TIME);
		for (LockKey candidate = unusedKey();; candidate = unusedKey()) {
			List<LeaseRequest> requests = List.of(one, new LeaseRequest(candidate, second, LEASE_TIME));
			if (areTogether(requests.get(0).key(), candidate)) {
				return requests;
			}
		}
	}

	private static OwnerToken fair() {
		return OwnerToken.random(LockMode.FAIR);
	}

}
