// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.util.EnumSet;

import io.github.lockstarter.faults.worker.Mode;

/**
 * Faults of a database.
 */
public enum DatabaseFault implements Fault {

	/** Requests under way have an unknown outcome, and messages are lost. */
	SESSIONS_ENDED(of("all sessions ended by an operator, again and again",
			(attack) -> attack.repeat(attack.database()::endSessions))),

	/** Pools keep their connections to the former primary, which is a replica now. */
	FAILOVER_SURVIVED(
			of("failover after which open connections may only read", (attack) -> attack.database().failOver())),

	/** An operator's transaction takes its time. */
	ROWS_LOCKED(of("all rows locked by a transaction for longer than lease and time-outs",
			(attack) -> attack.database().lockRows(() -> attack.last(attack.longerThanLease())))),

	/** All leases expire at once, and the owners do not know it. */
	CLOCK_FORWARD(of("clock of the server set forward by ten leases",
			(attack) -> attack.repeat(() -> attack.database().clock().move(attack.leases(10))))
		.with(Exclusion.UNTIL_NOTICED)),

	/** Locks live longer than requested. */
	CLOCK_BACKWARD(of("clock of the server set back, by two leases in all",
			(attack) -> attack.repeat(() -> attack.database().clock().move(attack.leases(-0.3))))),

	/** Transactions of the application may be forgotten, but not the locks. */
	COMMITS_LOST(Nature
		.of("crash that loses commits for which nobody waited (synchronous_commit off)",
				EnumSet.of(SiteKind.POSTGRESQL),
				(attack) -> attack.database().loseCommits(() -> attack.last(attack.leases(0.7))))
		.with(Mode.LINGERING));

	private final Nature nature;

	DatabaseFault(Nature nature) {
		this.nature = nature;
	}

	@Override
	public Nature nature() {
		return this.nature;
	}

	private static Nature of(String title, Strike strike) {
		return Nature.of(title, EnumSet.of(SiteKind.POSTGRESQL, SiteKind.MARIADB), strike).with(Mode.LINGERING);
	}

}
