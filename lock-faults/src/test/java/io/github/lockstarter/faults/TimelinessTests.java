// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.faults.checks.Violation;
import io.github.lockstarter.faults.history.Attempt;
import io.github.lockstarter.faults.history.History;
import io.github.lockstarter.faults.history.Step;
import io.github.lockstarter.faults.nemesis.Fault;
import io.github.lockstarter.faults.nemesis.WorkerFault;

import static org.assertj.core.api.Assertions.assertThat;

class TimelinessTests {

	@Test
	void aLockThatIsLostIsAViolationOnlyWhileItsServersAreHealthy() {
		Attempt lost = attempt(10).granted(20, 1).note(Step.LOST, 30);
		assertThat(check(WorkerFault.CROWD, lost)).containsExactly("loss");
		assertThat(check(WorkerFault.HOLDER_PAUSED, lost)).isEmpty();
	}

	@Test
	void anUnknownOutcomeIsAViolationWhereLocksAreAvailable() {
		Attempt unknown = attempt(10).note(Step.UNKNOWN, 20);
		assertThat(check(WorkerFault.TIME_OUTS, unknown)).containsExactly("contention is not an outage");
		assertThat(check(WorkerFault.INTERRUPTS, unknown)).isEmpty();
	}

	@Test
	void aPausedInstanceMayEndItsWaitsLater() {
		Attempt late = attempt(0).note(Step.DUE, 0).note(Step.REFUSED, Duration.ofSeconds(5).toNanos());
		assertThat(check(WorkerFault.NOTHING, late)).containsExactly("wait budget");
		assertThat(check(WorkerFault.SESSION_EXPIRED, late)).isEmpty();
	}

	private static Attempt attempt(long asked) {
		return new Attempt("w1-0", "stock", false).note(Step.ASK, asked);
	}

	private static List<String> check(Fault fault, Attempt attempt) {
		return Timeliness.check(new History(List.of(attempt)), fault, Duration.ofSeconds(1), List.of("w1"), List.of())
			.stream()
			.map(Violation::check)
			.toList();
	}

}
