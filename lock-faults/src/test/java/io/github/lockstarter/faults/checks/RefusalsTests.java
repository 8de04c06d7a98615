// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.checks;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.faults.history.Attempt;
import io.github.lockstarter.faults.history.History;
import io.github.lockstarter.faults.history.Step;

import static io.github.lockstarter.faults.checks.Histories.hold;
import static io.github.lockstarter.faults.checks.Histories.lost;
import static org.assertj.core.api.Assertions.assertThat;

class RefusalsTests {

	private static final Duration LEASE_TIME = Duration.ofNanos(100);

	private static final long LONG = Duration.ofSeconds(1).toNanos();

	@Test
	void aLongWaitForAFreeLockIsFound() {
		Attempt refused = refused(30, 30 + LONG);
		assertThat(find(hold("a", 1, 0, 10, 20, 30), refused, hold("a", 2, 0, 30 + LONG, LONG + 40, LONG + 50)))
			.containsExactly(refused);
	}

	@Test
	void aShortWaitIsNot() {
		assertThat(find(refused(30, 40))).isEmpty();
	}

	@Test
	void aWaitInWhichSomebodyHeldTheLockIsNot() {
		assertThat(find(hold("a", 1, 0, 10, 20, 31), refused(30, 30 + LONG))).isEmpty();
		assertThat(find(refused(30, 30 + LONG), hold("a", 1, 0, 40, 50, 60))).isEmpty();
	}

	@Test
	void aLockThatWasNotReleasedStaysTakenForItsLease() {
		assertThat(find(lost("a", 1, 0, 10, 20), refused(119, 119 + LONG))).isEmpty();
		assertThat(find(lost("a", 1, 0, 10, 20), refused(120, 120 + LONG))).hasSize(1);
	}

	private static Attempt refused(long ask, long refused) {
		return new Attempt("b", Histories.KEY, false).note(Step.ASK, ask).note(Step.REFUSED, refused);
	}

	private static List<Attempt> find(Attempt... attempts) {
		return Refusals.find(new History(List.of(attempts)), LEASE_TIME);
	}

}
