// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.engine.ModelDesk.ModelWaiter;
import io.github.lockstarter.store.OwnerToken;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What a lock asks the store for, and when.
 */
class LocalLockTests {

	private static final Duration LONG_LEASE = EngineSettings.DEFAULTS.leaseTime().multipliedBy(2);

	private final SilentDesk desk = new SilentDesk();

	@Test
	void aWaiterThatWasRefusedLeavesExactlyAtTheEndOfItsWaitTime() {
		this.desk.refuseNext();
		ModelWaiter waiter = this.desk.come(LockMode.EXCLUSIVE);
		assertThat(waiter.outcome()).isNull();
		this.desk.timeOut(waiter);
		assertThat(AcquireFailure.isContention(waiter.outcome())).isTrue();
		assertThat(this.desk.requests).isOne();
		this.desk.checkEnd();
	}

	@Test
	void aStoreThatHasNotAnsweredIsNotAskedAgainAtTheEndOfTheWaitTime() {
		this.desk.failNext();
		ModelWaiter waiter = this.desk.come(LockMode.EXCLUSIVE);
		assertThat(waiter.outcome()).isNull();
		this.desk.timeOut(waiter);
		assertUnavailable(waiter);
		assertThat(this.desk.requests).isOne();
		this.desk.checkEnd();
	}

	@Test
	void anAnswerUnderWayAtTheEndOfTheWaitTimeDecides() {
		this.desk.answering = false;
		ModelWaiter waiter = this.desk.come(LockMode.EXCLUSIVE);
		this.desk.timeOut(waiter);
		assertThat(waiter.outcome()).isNull();
		this.desk.answerRequest();
		this.desk.leave(this.desk.hold(waiter));
		assertThat(this.desk.requests).isOne();
		this.desk.checkEnd();
	}

	@Test
	void anAnswerThatIsOverdueAtTheEndOfTheWaitTimeIsNotWaitedFor() {
		this.desk.answering = false;
		ModelWaiter early = this.desk.come(LockMode.EXCLUSIVE);
		this.desk.pass(Answers.OWN.minusNanos(1));
		this.desk.timeOut(early);
		this.desk.overdue();
		assertThat(early.outcome()).isNull();
		this.desk.pass(Duration.ofNanos(1));
		ModelWaiter late = this.desk.come(LockMode.EXCLUSIVE);
		this.desk.overdue();
		assertUnavailable(early);
		assertThat(late.outcome()).isNull();
		this.desk.timeOut(late);
		assertUnavailable(late);
		this.desk.answerRequest();
		this.desk.checkEnd();
	}

	@Test
	void aWaiterBehindAnotherOneDoesNotWaitForItsAnswer() {
		this.desk.answering = false;
		ModelWaiter first = this.desk.come(LockMode.EXCLUSIVE);
		ModelWaiter behind = this.desk.come(LockMode.EXCLUSIVE);
		this.desk.timeOut(behind);
		assertThat(AcquireFailure.isContention(behind.outcome())).isTrue();
		ModelWaiter later = this.desk.come(LockMode.EXCLUSIVE);
		this.desk.pass(Answers.OWN.dividedBy(5).multipliedBy(2));
		this.desk.timeOut(later);
		assertUnavailable(later);
		this.desk.answerRequest();
		this.desk.leave(this.desk.hold(first));
		this.desk.checkEnd();
	}

	@Test
	void aMessageThatComesBeforeARefusalIsNotMissed() {
		this.desk.answering = false;
		this.desk.refuseNext();
		ModelWaiter waiter = this.desk.come(LockMode.EXCLUSIVE);
		this.desk.notifyLock();
		this.desk.answering = true;
		this.desk.answerRequest();
		this.desk.leave(this.desk.hold(waiter));
		assertThat(this.desk.requests).isEqualTo(2);
		this.desk.checkEnd();
	}

	@Test
	void theNextFairWaiterAsksAfterTheRelease() {
		ModelWaiter first = this.desk.come(LockMode.FAIR);
		ModelWaiter second = this.desk.come(LockMode.FAIR);
		this.desk.leave(this.desk.hold(first));
		this.desk.leave(this.desk.hold(second));
		assertThat(this.desk.requests).isEqualTo(2);
		this.desk.checkEnd();
	}

	@ParameterizedTest
	@EnumSource
	void parallelRequestsOfOneOwnerShareItsHold(LockMode mode) {
		this.desk.answering = false;
		ModelWaiter first = this.desk.come(mode, "job");
		ModelWaiter other = this.desk.come(LockMode.WRITE, "other job");
		ModelWaiter second = this.desk.come(mode, "job");
		ModelWaiter reader = this.desk.come(LockMode.READ, "job");
		this.desk.answerRequest();
		Hold hold = this.desk.hold(first);
		assertThat(this.desk.hold(second)).isSameAs(hold);
		assertThat(this.desk.hold(reader)).isSameAs(hold);
		this.desk.leave(hold);
		this.desk.leave(hold);
		assertThat(other.outcome()).isNull();
		this.desk.answering = true;
		this.desk.leave(hold);
		assertThat(hold.isHeld()).isFalse();
		this.desk.leave(other);
		this.desk.checkEnd();
	}

	@Test
	void parallelRequestsOfOneOwnerShareTheHoldThatIsHandedOnToIt() {
		Hold before = this.desk.hold(this.desk.come(LockMode.EXCLUSIVE));
		ModelWaiter first = this.desk.come(LockMode.EXCLUSIVE, "job");
		ModelWaiter second = this.desk.come(LockMode.EXCLUSIVE, "job");
		this.desk.leave(before);
		Hold hold = this.desk.hold(first);
		assertThat(this.desk.hold(second)).isSameAs(hold);
		assertThat(this.desk.requests).isOne();
		this.desk.leave(hold);
		this.desk.leave(hold);
		this.desk.checkEnd();
	}

	@ParameterizedTest
	@EnumSource(names = "READ", mode = EnumSource.Mode.EXCLUDE)
	void aParallelRequestOfAReaderForAnotherModeFailsAsAnUpgrade(LockMode mode) {
		this.desk.answering = false;
		ModelWaiter reader = this.desk.come(LockMode.READ, "job");
		ModelWaiter upgrading = this.desk.come(mode, "job");
		this.desk.answerRequest();
		assertThat(upgrading.outcome()).isInstanceOfSatisfying(AcquireFailure.class,
				(failure) -> assertThat(failure.cause()).hasMessageContaining("is held for reading"));
		this.desk.leave(this.desk.hold(reader));
		this.desk.checkEnd();
	}

	/** A list of its keys, for example. */
	@Test
	void aLockIsReleasedThoughTheHashCodeOfItsOwnerHasChanged() {
		List<String> owner = new ArrayList<>(List.of("job"));
		Hold hold = this.desk.hold(this.desk.come(LockMode.READ, owner));
		Hold other = this.desk.hold(this.desk.come(LockMode.READ, "other job"));
		owner.add("changed");
		this.desk.leave(hold);
		this.desk.leave(other);
		this.desk.checkEnd();
	}

	@Test
	void aHoldThatIsLostInTheInstantOfItsReleaseIsNotKept() {
		Hold hold = this.desk.hold(this.desk.come(LockMode.EXCLUSIVE));
		hold.holdAtLeast(hold.nextLevel(), Duration.ofHours(1));
		hold.lose("it is a test");
		this.desk.leave(hold);
		assertThat(hold.isKept()).isFalse();
		this.desk.checkEnd();
	}

	@Test
	void aLeaseIsWatchedAnewWithItsNextHold() {
		ModelWaiter first = this.desk.come(LockMode.EXCLUSIVE);
		ModelWaiter second = this.desk.come(LockMode.EXCLUSIVE);
		assertThat(this.desk.watched).isOne();
		this.desk.leave(this.desk.hold(first));
		assertThat(this.desk.watched).isEqualTo(2);
		this.desk.leave(this.desk.hold(second));
		assertThat(this.desk.requests).isOne();
		this.desk.checkEnd();
	}

	@Test
	void aWaiterThatHasJustComeToleratesAnOutageThatHasLastedForLong() {
		this.desk.failNext();
		ModelWaiter first = this.desk.come(LockMode.EXCLUSIVE);
		this.desk.pass(EngineSettings.DEFAULTS.outageTime().multipliedBy(10));
		ModelWaiter next = this.desk.come(LockMode.EXCLUSIVE);
		this.desk.leave(first);
		assertThat(next.outcome()).isInstanceOf(Hold.class);
		this.desk.leave(this.desk.hold(next));
		this.desk.checkEnd();
	}

	@Test
	void onlyCallersWithTheSameLeaseTimeShareAnOwnership() {
		Duration fixed = EngineSettings.DEFAULTS.leaseTime().multipliedBy(2);
		ModelWaiter first = this.desk.come(LockMode.EXCLUSIVE);
		ModelWaiter longer = this.desk.come(this.desk.waiter(LockMode.EXCLUSIVE, Duration.ofHours(1), fixed));
		ModelWaiter equal = this.desk.come(this.desk.waiter(LockMode.EXCLUSIVE, Duration.ofHours(1), fixed));
		this.desk.leave(this.desk.hold(first));
		Ownership ownership = this.desk.hold(longer).ownership();
		assertThat(ownership).isNotSameAs(((Hold) Objects.requireNonNull(first.outcome())).ownership());
		this.desk.leave((Hold) Objects.requireNonNull(longer.outcome()));
		assertThat(this.desk.hold(equal).ownership()).isSameAs(ownership);
		assertThat(this.desk.requests).isEqualTo(2);
		this.desk.leave((Hold) Objects.requireNonNull(equal.outcome()));
		this.desk.checkEnd();
	}

	@Test
	void aPlaceOfThisJvmIsGivenUpThoughAFairWaiterIsGrantedTheLockMeanwhile() {
		this.desk.refuseNext();
		ModelWaiter first = this.desk.come(LockMode.EXCLUSIVE);
		ModelWaiter fair = this.desk.come(LockMode.FAIR);
		this.desk.leave(first);
		this.desk.leave(this.desk.hold(fair));
		assertThat(this.desk.withdrawals).isOne();
		this.desk.checkEnd();
	}

	@Test
	void aWaiterWithoutTimeWaitsForNoMessageAfterAGrantThatIsNotForIt() {
		this.desk.answering = false;
		ModelWaiter asking = this.desk.come(LockMode.EXCLUSIVE);
		ModelWaiter next = this.desk
			.come(this.desk.waiter(LockMode.EXCLUSIVE, Duration.ofHours(1), Duration.ofHours(2)));
		this.desk.leave(asking);
		this.desk.timeOut(next);
		this.desk.answerRequest();
		assertThat(this.desk.requests).isEqualTo(2);
		this.desk.answerRequest();
		this.desk.leave(this.desk.hold(next));
		this.desk.checkEnd();
	}

	@ParameterizedTest
	@EnumSource(names = { "READ", "FAIR" })
	void aGrantIsNotForAWaiterInAnotherMode(LockMode mode) {
		this.desk.answering = false;
		ModelWaiter asking = this.desk.come(mode);
		ModelWaiter next = this.desk.come(LockMode.EXCLUSIVE);
		this.desk.leave(asking);
		this.desk.answerRequest();
		assertThat(next.outcome()).isNull();
		this.desk.answerRequest();
		Hold hold = this.desk.hold(next);
		assertThat(hold.mode()).isEqualTo(LockMode.EXCLUSIVE);
		this.desk.leave(hold);
		this.desk.checkEnd();
	}

	@Test
	void aReaderJoinsWhileTheReleaseOfAnEarlierReaderIsUnderWay() {
		SilentDesk desk = new SilentDesk(Duration.ofSeconds(1));
		Hold first = desk.hold(desk.come(LockMode.READ));
		desk.pass(Duration.ofSeconds(2));
		Hold second = desk.hold(desk.come(LockMode.READ));
		assertThat(second.ownership()).isNotSameAs(first.ownership());
		desk.releasing = true;
		desk.leave(first);
		Hold third = desk.hold(desk.come(desk.waiter(LockMode.READ, Duration.ZERO, null)));
		assertThat(third.ownership()).isSameAs(second.ownership());
		desk.change(LocalLock::returned);
		desk.releasing = false;
		desk.leave(second);
		desk.leave(third);
		desk.checkEnd();
	}

	@Test
	void aMessageIsNotMissedThoughAnEarlierReaderReleasesMeanwhile() {
		SilentDesk desk = new SilentDesk(Duration.ofSeconds(1));
		Hold first = desk.hold(desk.come(LockMode.READ));
		desk.pass(Duration.ofSeconds(2));
		desk.answering = false;
		ModelWaiter second = desk.come(LockMode.READ);
		desk.notifyLock();
		desk.leave(first);
		desk.answering = true;
		desk.refuseNext();
		desk.answerRequest();
		desk.leave(desk.hold(second));
		assertThat(desk.requests).isEqualTo(3);
		desk.checkEnd();
	}

	@Test
	void aTurnIsPassedOnThoughALossKeepsTheLockHere() {
		Hold hold = this.desk.hold(this.desk.come(LockMode.EXCLUSIVE));
		this.desk.lose(hold.ownership());
		this.desk.change(LocalLock::messageArrived);
		assertThat(this.desk.withdrawals).isOne();
		this.desk.leave(hold);
		this.desk.checkEnd();
	}

	@Test
	void noRequestOvertakesARelease() {
		Hold hold = this.desk.hold(this.desk.come(LockMode.EXCLUSIVE));
		ModelWaiter next = this.desk.come(this.desk.waiter(LockMode.EXCLUSIVE, Duration.ofHours(1), LONG_LEASE));
		this.desk.releasing = true;
		this.desk.leave(hold);
		assertThat(this.desk.requests).isOne();
		this.desk.releasing = false;
		this.desk.change(LocalLock::returned);
		this.desk.leave(this.desk.hold(next));
		assertThat(this.desk.requests).isEqualTo(2);
		this.desk.checkEnd();
	}

	@Test
	void aShutdownEndsTheWaitOfALockThatIsHeldElsewhere() {
		this.desk.refuseNext();
		ModelWaiter waiter = this.desk.come(LockMode.EXCLUSIVE);
		this.desk.shutDown();
		assertThat(waiter.outcome()).isSameAs(AcquireFailure.REFUSED);
		this.desk.checkEnd();
	}

	@Test
	void eachHolderIsToldOfALossThoughAnotherCannotBeTold() {
		Hold first = this.desk.hold(this.desk.come(LockMode.READ));
		Hold second = this.desk.hold(this.desk.come(LockMode.READ));
		this.desk.failing = true;
		assertThatIllegalStateException().isThrownBy(() -> this.desk.lose(first.ownership()));
		assertThat(this.desk.ended).containsExactlyInAnyOrder(first, second);
		this.desk.failing = false;
		this.desk.leave(first);
		this.desk.leave(second);
		this.desk.checkEnd();
	}

	private static void assertUnavailable(ModelWaiter waiter) {
		assertThat(waiter.outcome()).isInstanceOfSatisfying(AcquireFailure.class,
				(failure) -> assertThat(failure.reason()).isEqualTo(AcquireFailure.Reason.UNAVAILABLE));
	}

	/**
	 * A desk whose store sends no messages and can postpone its answer.
	 */
	private static final class SilentDesk extends ModelDesk {

		private boolean answering = true;

		private int requests;

		private int watched;

		private int withdrawals;

		private boolean failing;

		private final List<Hold> ended = new ArrayList<>();

		private @Nullable Attempt asked;

		private @Nullable Runnable answer;

		/** Whether a release stays under way. */
		private boolean releasing;

		SilentDesk() {
			this(Duration.ofDays(1));
		}

		SilentDesk(Duration slice) {
			super(slice);
		}

		@Override
		public void ask(LockKey key, Attempt attempt, Waiter head) {
			this.requests++;
			if (this.answering) {
				super.ask(key, attempt, head);
			}
			else {
				attempt.ask(now(), Answers.OWN);
				this.asked = attempt;
				this.answer = () -> super.ask(key, attempt, head);
			}
		}

		void overdue() {
			Attempt asked = Objects.requireNonNull(this.asked);
			change((lock) -> lock.overdue(asked));
		}

		void answerRequest() {
			assertThat(this.answer).isNotNull();
			this.answer.run();
		}

		@Override
		public void setAlarm(Timetable.Entry alarm) {
		}

		@Override
		public void release(Ownership ownership, @Nullable Hold hold) {
			ownership.release();
			if (!this.releasing) {
				change(LocalLock::returned);
			}
		}

		/** The request for the lock takes the place. */
		@Override
		public void enterLine(LockKey key, Waiter waiter) {
		}

		@Override
		public void ended(Hold hold) {
			this.ended.add(hold);
			if (this.failing) {
				throw new IllegalStateException("it is a test");
			}
		}

		@Override
		public void withdraw(LockKey key, @Nullable OwnerToken owner) {
			this.withdrawals++;
		}

		@Override
		public void watch(Ownership ownership) {
			this.watched++;
		}

	}

}
