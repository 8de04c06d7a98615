// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.lockstarter.faults.checks.Shares;
import io.github.lockstarter.faults.checks.Violation;
import io.github.lockstarter.faults.checks.WaitBudget;
import io.github.lockstarter.faults.history.Attempt;
import io.github.lockstarter.faults.history.History;
import io.github.lockstarter.faults.history.Step;
import io.github.lockstarter.faults.nemesis.DatabaseFault;
import io.github.lockstarter.faults.nemesis.Fault;
import io.github.lockstarter.faults.nemesis.WorkerFault;
import io.github.lockstarter.faults.worker.Mode;

/**
 * Checks what locks promise about time, on a machine that runs all the time.
 */
final class Timeliness {

	/** 2 s for a command without a reply, and 2 s for a busy machine. */
	private static final Duration LONGEST_DELAY = Duration.ofSeconds(4);

	/** Tests without noise check the precise bounds. */
	private static final double LEAST_SHARE = 0.4;

	private Timeliness() {
	}

	/**
	 * Return the promises about time that were broken.
	 * @param instances the names of all instances
	 * @param refused the long waits that ended without the lock although it was free
	 */
	static List<Violation> check(History history, Fault fault, Duration leaseTime, List<String> instances,
			List<Attempt> refused) {
		List<Violation> violations = new ArrayList<>(WaitBudget.check(history, longestDelay(fault, leaseTime)));
		if (fault.mode() == Mode.LONELY) {
			violations.addAll(Shares.check(history, instances, LEAST_SHARE));
		}
		boolean healthy = fault.mode() == Mode.CROWDED || fault == DatabaseFault.FAILOVER_SURVIVED;
		if (healthy && history.count(Step.LOST) > 0) {
			violations.add(new Violation("loss",
					history.count(Step.LOST) + " locks were lost although their servers were healthy",
					history.attempts().stream().filter((attempt) -> attempt.has(Step.LOST)).toList()));
		}
		if (fault.leavesLocksAvailable() && !refused.isEmpty()) {
			violations
				.add(new Violation("availability", refused.size() + " free locks were refused: " + refused, List.of()));
		}
		if (fault.leavesLocksAvailable() && history.count(Step.UNKNOWN) > 0) {
			violations.add(new Violation("contention is not an outage",
					history.count(Step.UNKNOWN) + " attempts failed although locks could be acquired", List.of()));
		}
		return violations;
	}

	private static Duration longestDelay(Fault fault, Duration leaseTime) {
		// A paused instance cannot end its waits
		return (fault == WorkerFault.SESSION_EXPIRED) ? LONGEST_DELAY.plus(leaseTime.multipliedBy(4)) : LONGEST_DELAY;
	}

}
