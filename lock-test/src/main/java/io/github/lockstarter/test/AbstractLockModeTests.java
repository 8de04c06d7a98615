// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.LockRefusal;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.ReleaseOutcome;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The part of the contract of every {@link LockStore} that is about shared locks and FAIR
 * order.
 */
abstract class AbstractLockModeTests extends AbstractMixedModeTests {

	private final OwnerToken reader = OwnerToken.random(LockMode.READ);

	private final OwnerToken otherReader = OwnerToken.random(LockMode.READ);

	private final OwnerToken thirdReader = OwnerToken.random(LockMode.READ);

	private final OwnerToken first = fair();

	private final OwnerToken second = fair();

	@Test
	void readersShareALock() {
		long base = this.one.grant(this.key, this.reader);
		assertThat(this.two.grant(this.key, this.otherReader)).isGreaterThan(base);
		assertThat(this.one.grant(this.key, this.thirdReader)).isGreaterThan(base);
	}

	@Test
	void aReaderExcludesAWriterUntilTheLastOneHasLeft() {
		this.one.grant(this.key, this.reader);
		this.two.grant(this.key, this.otherReader);
		assertThat(this.three.remaining(this.key, this.owner)).isBetween(Duration.ofSeconds(5), LEASE_TIME);
		assertThat(this.one.release(this.key, this.reader, null)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(this.three.acquire(this.key, this.owner)).isInstanceOf(LockRefusal.class);
		assertThat(this.two.release(this.key, this.otherReader, null)).isEqualTo(ReleaseOutcome.RELEASED);
		this.three.grant(this.key, this.owner);
	}

	@Test
	void aWriterExcludesReaders() {
		this.one.grant(this.key, OwnerToken.random(LockMode.WRITE));
		assertThat(this.two.remaining(this.key, this.reader)).isBetween(Duration.ofSeconds(5), LEASE_TIME);
		assertThat(this.one.remaining(this.key, this.reader)).isPositive();
	}

	@Test
	void aFencingBaseGrowsFromReaderToWriterAndBack() {
		long first = this.one.grant(this.key, this.reader);
		this.one.release(this.key, this.reader, null);
		long second = this.two.grant(this.key, this.owner);
		this.two.release(this.key, this.owner, null);
		assertThat(second).isGreaterThan(first);
		assertThat(this.one.grant(this.key, this.otherReader)).isGreaterThan(second);
	}

	@Test
	void aReaderThatAsksAgainGetsAFullLease() {
		long base = this.one.grant(this.key, this.reader, Duration.ofSeconds(5));
		assertThat(this.one.grant(this.key, this.reader)).isGreaterThanOrEqualTo(base);
		assertThat(this.two.remaining(this.key, this.owner)).isGreaterThan(Duration.ofSeconds(5));
	}

	@Test
	void aReaderExtendsItsOwnLeaseAndNoOther() {
		this.one.grant(this.key, this.reader, shortLeaseTime());
		this.two.grant(this.key, this.otherReader, Duration.ofSeconds(5));
		assertThat(this.two.renew(this.key, this.otherReader)).isTrue();
		await().until(() -> {
			letTimePass();
			return !this.one.renew(this.key, this.reader, shortLeaseTime().dividedBy(100));
		});
		assertThat(this.one.release(this.key, this.reader, null)).isEqualTo(ReleaseOutcome.NOT_OWNER);
		assertThat(this.two.renew(this.key, this.otherReader)).isTrue();
	}

	@Test
	void aReaderCanAskForItsShareWithoutALongerLease() {
		this.one.grant(this.key, this.reader, Duration.ofSeconds(5));
		assertThat(this.one.renew(this.key, this.reader, Duration.ZERO)).isTrue();
		assertThat(this.two.renew(this.key, this.otherReader, Duration.ZERO)).isFalse();
		assertThat(this.two.remaining(this.key, this.owner)).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(5));
		this.one.release(this.key, this.reader, null);
		assertThat(this.one.renew(this.key, this.reader, Duration.ZERO)).isFalse();
	}

	@Test
	void aCrashedReaderFreesItsShareWhenItsOwnLeaseEnds() {
		this.one.grant(this.key, this.reader, shortLeaseTime());
		this.two.grant(this.key, this.otherReader);
		this.two.release(this.key, this.otherReader, null);
		takeOver();
	}

	@Test
	void theLeaseOfAReaderIsNotShortenedByOneThatHasLess() {
		this.one.grant(this.key, this.reader);
		this.two.grant(this.key, this.otherReader, shortLeaseTime());
		this.two.release(this.key, this.otherReader, null);
		assertThat(this.three.remaining(this.key, this.owner)).isGreaterThan(Duration.ofSeconds(5));
	}

	@Test
	void aReaderThatDoesNotHoldTheLockChangesNothing() {
		this.one.grant(this.key, this.reader);
		assertThat(this.two.release(this.key, this.otherReader, null)).isEqualTo(ReleaseOutcome.NOT_OWNER);
		assertThat(this.two.renew(this.key, this.otherReader)).isFalse();
		assertThat(this.two.release(this.key, this.owner, null)).isEqualTo(ReleaseOutcome.NOT_OWNER);
		assertThat(this.two.renew(this.key, this.owner)).isFalse();
		assertThat(this.two.acquire(this.key, this.owner)).isInstanceOf(LockRefusal.class);
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
		assertThat(this.one.acquire(this.key, this.other)).isInstanceOf(LockRefusal.class);
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
		assertThat(four.acquire(this.key, this.otherReader)).isInstanceOf(LockRefusal.class);
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
		Reservation.test((reservation) -> {
			List<OwnerToken> owners = List.of(fair(), fair(), fair(), fair());
			List<Jvm> jvms = List.of(this.two, this.three, this.two, this.one);
			OwnerToken holder = OwnerToken.random();
			this.one.grant(reservation.key(), holder);
			for (int i = 0; i < owners.size(); i++) {
				jvms.get(i).arrive(reservation.key(), owners.get(i));
			}
			reservation.release(this.one, holder, null);
			for (int i = 0; i < owners.size(); i++) {
				for (int later = i + 1; later < owners.size(); later++) {
					if (jvms.get(later) != jvms.get(i)) {
						reservation.refuses(jvms.get(later), owners.get(later));
					}
				}
				reservation.grants(jvms.get(i), owners.get(i));
				reservation.release(jvms.get(i), owners.get(i), null);
			}
			this.one.grant(reservation.key(), OwnerToken.random());
		});
	}

	@Test
	void nobodyOvertakesOneThatWaitsInOrderOfArrivalForALockThatBecameFreeByItself() {
		Reservation.test((reservation) -> {
			OwnerToken holder = OwnerToken.random();
			OwnerToken first = fair();
			OwnerToken second = fair();
			this.one.grant(reservation.key(), holder, shortLeaseTime());
			this.two.arrive(reservation.key(), first);
			await().until(() -> {
				letTimePass();
				return !this.one.renew(reservation.key(), holder, Duration.ZERO);
			});
			reservation.begin();
			// It may overtake if it asks again before the first one comes
			reservation.refuses(this.three, second);
			await().until(() -> this.two.heard().contains(reservation.key()));
			reservation.grants(this.two, first);
			assertThat(this.three.acquire(reservation.key(), second)).isInstanceOf(LockRefusal.class);
		});
	}

	@Test
	void aWaiterThatWasNotifiedAndDoesNotComeIsPassedOver() {
		twoWaitInOrderOfArrival();
		this.one.release(this.key, this.owner, null);
		await().until(() -> {
			letTimePass();
			return this.three.acquire(this.key, this.second) instanceof LockGrant;
		});
		assertThat(this.two.acquire(this.key, this.first)).isInstanceOf(LockRefusal.class);
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
		Reservation.test((reservation) -> {
			OwnerToken early = fair();
			OwnerToken between = fair();
			OwnerToken late = fair();
			OwnerToken holder = OwnerToken.random();
			this.one.grant(reservation.key(), holder);
			this.two.arrive(reservation.key(), early);
			this.three.arrive(reservation.key(), between);
			this.two.arrive(reservation.key(), late);
			reservation.release(this.one, holder, null);
			reservation.grants(this.two, late);
			reservation.release(this.two, late, null);
			reservation.refuses(this.two, early);
			reservation.grants(this.three, between);
			reservation.release(this.three, between, null);
			reservation.grants(this.two, early);
		});
	}

	@Test
	void severalLocksAreGrantedTogetherOrNotAtAll() {
		List<LeaseRequest> requests = together(this.owner, this.other);
		List<LockGrant> grants = this.one.acquireAll(requests);
		assertThat(grants).hasSize(2).extracting(LockGrant::awaited).containsExactly(false, false);
		assertThat(this.one.grant(requests.get(0).key(), this.owner)).isEqualTo(grants.get(0).fencingBase());
		assertThat(this.one.acquireAll(requests)).isEqualTo(grants);
		this.one.release(requests.get(0).key(), this.owner, null);
		List<LeaseRequest> overlapping = List.of(requests.get(0),
				new LeaseRequest(requests.get(1).key(), OwnerToken.random(), LEASE_TIME));
		assertThat(this.two.acquireAll(overlapping)).isEmpty();
		assertThat(this.two.grant(requests.get(0).key(), OwnerToken.random()))
			.isGreaterThan(grants.get(0).fencingBase());
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
