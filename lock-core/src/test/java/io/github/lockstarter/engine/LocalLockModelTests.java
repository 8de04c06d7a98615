// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.engine.ModelDesk.ModelWaiter;
import io.github.lockstarter.testsupport.FullProfileOnly;

/**
 * Checks the state machine of an exclusive lock inside a JVM, in many interleavings of a
 * release, waiters that leave at the same time, and a disturbance.
 */
@FullProfileOnly
class LocalLockModelTests {

	@ParameterizedTest
	@EnumSource
	@EnabledForJreRange(max = JRE.JAVA_21, disabledReason = "Lincheck 3.7 sees hangs on JDK 25 where there are none")
	void nobodyIsStrandedAndNoTwoHold(Disturbance disturbance) {
		Interleavings.check(() -> play(disturbance));
	}

	/**
	 * One lock with a holder that releases it, a waiter that withdraws, another waiter
	 * and a disturbance, each on a thread of its own.
	 */
	private static void play(Disturbance disturbance) {
		ModelDesk desk = new ModelDesk(
				disturbance.ordinal() >= Disturbance.SLICE_OVER.ordinal() ? Duration.ZERO : Duration.ofDays(1));
		Hold first = desk.hold(desk.come(LockMode.EXCLUSIVE));
		ModelWaiter waiting = desk
			.come((disturbance == Disturbance.LEAVE_WITH_PLACE) ? LockMode.FAIR : LockMode.EXCLUSIVE);
		ModelWaiter impatient = desk.waiter(LockMode.EXCLUSIVE, Duration.ofHours(1), null);
		switch (disturbance) {
			case STORE_REFUSES -> desk.refuseNext();
			case STORE_FAILS -> desk.failNext();
			case STORE_IS_SILENT, ANSWER_NEVER -> desk.silenceNext();
			default -> {
			}
		}
		ModelDesk.run(() -> desk.leave(first), () -> desk.leave(waiting),
				() -> desk.leave(
						desk.come((disturbance == Disturbance.LEAVE_WITH_PLACE) ? LockMode.FAIR : LockMode.EXCLUSIVE)),
				() -> disturb(desk, disturbance, first, impatient));
		if (disturbance == Disturbance.ANSWER_NEVER) {
			desk.overdue();
			ModelDesk.check(impatient.outcome() != null, "a waiter waits for an answer that never comes");
			desk.leave(impatient);
		}
		desk.giveUp();
		desk.checkEnd();
	}

	@ParameterizedTest
	@EnumSource
	@EnabledForJreRange(max = JRE.JAVA_21, disabledReason = "Lincheck 3.7 sees hangs on JDK 25 where there are none")
	void parallelRequestsOfOneOwnerShareItsHoldAndNoOtherOwnerDoes(LockMode mode) {
		Interleavings.check(() -> playWithTwoOwners(mode));
	}

	/**
	 * One lock with an owner that releases it while it requests it again, and another one
	 * with two requests, each on a thread of its own.
	 */
	private static void playWithTwoOwners(LockMode mode) {
		ModelDesk desk = new ModelDesk(Duration.ofDays(1));
		Object one = "one";
		Object other = "other";
		Hold first = desk.hold(desk.come(mode, one));
		ModelWaiter waiting = desk.come(mode, other);
		ModelDesk.run(() -> desk.leave(first), () -> desk.leave(waiting), () -> desk.leave(desk.come(mode, other)),
				() -> desk.leave(desk.come(mode, one)));
		desk.checkEnd();
	}

	private static void disturb(ModelDesk desk, Disturbance disturbance, Hold first, ModelWaiter impatient) {
		switch (disturbance) {
			case OWNERSHIP_LOST, SLICE_OVER_AND_OWNERSHIP_LOST -> desk.lose(first.ownership());
			case LEASE_TIME_OVER -> desk.timeOver(first);
			case SHUTDOWN, SLICE_OVER_AND_SHUTDOWN -> desk.shutDown();
			case STORE_IS_SILENT -> desk.giveUp();
			case ANSWER_NEVER -> desk.timeOut(desk.come(impatient));
			case NONE, LEAVE_WITH_PLACE, STORE_REFUSES, STORE_FAILS, SLICE_OVER -> {
			}
		}
	}

	/**
	 * An event between the release and the waiters.
	 */
	private enum Disturbance {

		NONE, OWNERSHIP_LOST, LEASE_TIME_OVER, SHUTDOWN, STORE_REFUSES, STORE_FAILS, STORE_IS_SILENT, ANSWER_NEVER,
		LEAVE_WITH_PLACE, SLICE_OVER, SLICE_OVER_AND_OWNERSHIP_LOST, SLICE_OVER_AND_SHUTDOWN

	}

}
