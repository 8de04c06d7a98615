// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.checks;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.faults.history.Attempt;
import io.github.lockstarter.faults.history.History;
import io.github.lockstarter.faults.history.Step;

import static io.github.lockstarter.faults.checks.Histories.hold;
import static io.github.lockstarter.faults.checks.Histories.lost;
import static io.github.lockstarter.faults.checks.Histories.nested;
import static org.assertj.core.api.Assertions.assertThat;

class LinearizabilityTests {

	private static final LockModel MUTEX = new LockModel(false, false);

	private static final LockModel FENCED = new LockModel(false, true);

	private static final LockModel REENTRANT = new LockModel(true, false);

	private static final LockModel REENTRANT_FENCED = new LockModel(true, true);

	@Test
	void oneAfterTheOtherIsPossible() {
		History history = history(hold("a", 1, 0, 10, 20, 30), hold("b", 2, 5, 25, 40, 50));
		assertPossible(history, MUTEX, FENCED, REENTRANT, REENTRANT_FENCED);
	}

	@Test
	void aGrantBeforeTheOtherOwnerBeganToGiveBackIsImpossible() {
		History history = history(hold("a", 1, 0, 10, 20, 30), hold("b", 2, 5, 19, 40, 50));
		assertImpossible(history, MUTEX, FENCED, REENTRANT, REENTRANT_FENCED);
	}

	@Test
	void onlyThePrivilegeOfItsOwnerIsToTakeItTwice() {
		History own = history(hold("a", 1, 0, 10, 40, 50), nested("a", 1, 11, 12, 13, 14));
		assertPossible(own, REENTRANT, REENTRANT_FENCED);
		assertImpossible(own, MUTEX, FENCED);
		History foreign = history(hold("a", 1, 0, 10, 40, 50), nested("b", 1, 11, 12, 13, 14));
		assertImpossible(foreign, REENTRANT, REENTRANT_FENCED);
	}

	@Test
	void anInnerGrantWithAnotherTokenIsNoReentry() {
		History history = history(hold("a", 1, 0, 10, 40, 50), nested("a", 2, 11, 12, 13, 14));
		assertPossible(history, REENTRANT);
		assertImpossible(history, REENTRANT_FENCED);
	}

	@Test
	void theOuterHoldLastsUntilItsOwnEnd() {
		History history = history(hold("a", 1, 0, 10, 40, 50), nested("a", 1, 11, 12, 13, 14),
				hold("b", 2, 15, 20, 25, 30));
		assertImpossible(history, REENTRANT, REENTRANT_FENCED);
	}

	@Test
	void tokensDecideTheOrderOfWhatHappensAtTheSameTime() {
		History possible = history(hold("a", 2, 0, 100, 110, 200), hold("b", 1, 0, 100, 105, 200));
		assertImpossible(possible, MUTEX);
		History either = history(hold("a", 2, 0, 100, 110, 200), hold("b", 1, 0, 130, 140, 200));
		assertPossible(either, MUTEX);
		assertImpossible(either, FENCED);
		History inOrder = history(hold("a", 1, 0, 100, 110, 200), hold("b", 2, 0, 130, 140, 200));
		assertPossible(inOrder, FENCED);
	}

	@Test
	void aLostHoldMayHaveEndedAtAnyTimeAfterItWasKnownToLast() {
		assertPossible(history(lost("a", 1, 0, 10, 20), hold("b", 2, 5, 21, 40, 50)), MUTEX, FENCED);
		assertPossible(history(lost("a", 1, 0, 10, 20), hold("b", 2, 5, 2100, 2400, 2500)), MUTEX, FENCED);
		assertImpossible(history(lost("a", 1, 0, 10, 20), hold("b", 2, 5, 19, 40, 50)), MUTEX, FENCED);
	}

	@Test
	void aHolderThatWasPausedBeforeItRecordedItsGrantMayHaveLostTheLockBeforeThat() {
		Attempt paused = new Attempt("a", Histories.KEY, false).note(Step.ASK, 0).granted(110, 1).note(Step.LOST, 112);
		assertPossible(history(paused, hold("b", 2, 5, 105, 120, 130)), MUTEX, FENCED, REENTRANT, REENTRANT_FENCED);
		assertImpossible(history(paused.note(Step.HELD, 111), hold("b", 2, 5, 105, 120, 130)), MUTEX, FENCED, REENTRANT,
				REENTRANT_FENCED);
	}

	@Test
	void theReleaseOfAnInnerLevelSaysNothingOfALockThatWasLost() {
		Attempt outer = lost("a", 1, 0, 10, 12);
		History history = history(outer, nested("a", 1, 13, 14, 15, 120).note(Step.GIVE, 119),
				hold("b", 2, 5, 105, 125, 130));
		assertPossible(history, REENTRANT, REENTRANT_FENCED);
	}

	@Test
	void theHolderAndAllThatCouldHaveComeNextAreNamed() {
		Attempt holder = hold("a", 1, 0, 10, 20, 30);
		Attempt intruder = hold("b", 2, 5, 19, 40, 50);
		Attempt later = hold("c", 3, 60, 70, 80, 90);
		assertThat(Linearizability.check(history(holder, intruder, later), FENCED)).singleElement()
			.satisfies((violation) -> assertThat(violation.attempts()).containsExactlyInAnyOrder(holder, intruder));
	}

	@Test
	void aHolderThatDiedMayHoldTheLockForEver() {
		Attempt died = new Attempt("a", Histories.KEY, false).note(Step.ASK, 0).granted(10, 1).note(Step.HELD, 20);
		assertPossible(history(hold("b", 2, 21, 30, 40, 50), died), MUTEX, FENCED);
		assertPossible(history(died), MUTEX, FENCED);
	}

	@Test
	void whatWasRefusedOrIsUnknownSaysNothing() {
		Attempt refused = new Attempt("c", Histories.KEY, false).note(Step.ASK, 0).note(Step.REFUSED, 100);
		Attempt unknown = new Attempt("d", Histories.KEY, false).note(Step.ASK, 0).note(Step.UNKNOWN, 100);
		assertPossible(history(refused, unknown, hold("a", 1, 0, 10, 20, 30)), MUTEX, FENCED);
	}

	@Test
	void aLongRandomHistoryIsPossibleAndOneStepOutOfOrderIsNot() {
		Random random = new Random(1);
		List<Attempt> attempts = new ArrayList<>();
		long time = 0;
		for (int i = 1; i <= 1000; i++) {
			long granted = time + 10 + random.nextInt(10);
			long give = granted + 5 + random.nextInt(10);
			time = give + random.nextInt(20);
			attempts.add(hold("o" + random.nextInt(12) + "-" + i, i, Math.max(0, granted - random.nextInt(200)),
					granted, give, Math.max(give, time)));
		}
		Collections.shuffle(attempts, random);
		assertPossible(new History(attempts), MUTEX, FENCED);
		attempts.add(hold("intruder", 5000, time - 20_000, time - 10_000, time - 9_900, time - 9_000));
		assertImpossible(new History(attempts), MUTEX, FENCED);
	}

	private static History history(Attempt... attempts) {
		return new History(List.of(attempts));
	}

	private static void assertPossible(History history, LockModel... models) {
		for (LockModel model : models) {
			assertThat(Linearizability.check(history, model)).as(model.toString()).isEmpty();
		}
	}

	private static void assertImpossible(History history, LockModel... models) {
		for (LockModel model : models) {
			assertThat(Linearizability.check(history, model)).as(model.toString()).hasSize(1);
		}
	}

}
