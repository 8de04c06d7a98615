// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.time.Duration;

import io.github.lockstarter.faults.worker.Mode;
import io.github.lockstarter.servers.WorkerJvm;

/**
 * Faults of servers that keep their data: a database, or all members of an ensemble.
 */
public enum ServerFault implements Fault {

	/** Shorter than the lease, so nothing is lost. */
	SERVER_PAUSED_BRIEFLY(
			of("server paused for half of the lease (SIGSTOP)", (attack) -> pause(attack, attack.leases(0.5)))),

	/**
	 * Longer than the lease and the time-out of a request: the server still executes late
	 * requests.
	 */
	SERVER_PAUSED(of("server paused for longer than lease and time-outs (SIGSTOP)",
			(attack) -> pause(attack, attack.longerThanLease()))),

	/** Requests under way have an unknown outcome. */
	SERVER_RESTARTED(of("server killed and started again", (attack) -> {
		attack.servers().kill();
		attack.last(attack.leases(0.2));
		attack.servers().restart();
	})),

	/** None of the workers has waited when the first of them starts to wait. */
	SERVER_KILLED_BEFORE_WAITS(of("server killed before the first waiter comes, for 8 s", (attack) -> {
		attack.servers().kill();
		for (WorkerJvm worker : attack.crew().workers()) {
			worker.say("wait");
		}
		attack.last(Duration.ofSeconds(8));
		attack.servers().restart();
	}).with(Mode.HASTY)),

	/** The locks are gone, although the server was always available. */
	LOCKS_DELETED(of("all rows or nodes of locks deleted, again and again",
			(attack) -> attack.repeat(attack.servers()::forget))
		.with(Exclusion.UNTIL_NOTICED));

	private final Nature nature;

	ServerFault(Nature nature) {
		this.nature = nature;
	}

	@Override
	public Nature nature() {
		return this.nature;
	}

	private static Nature of(String title, Strike strike) {
		return Nature.of(title, SiteKind.OTHER_STORES, strike).with(Mode.LINGERING);
	}

	private static void pause(Attack attack, Duration duration) throws Exception {
		attack.servers().pause();
		attack.last(duration);
		attack.servers().resume();
	}

}
