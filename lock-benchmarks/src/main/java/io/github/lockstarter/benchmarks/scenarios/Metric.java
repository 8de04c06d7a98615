// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.scenarios;

/**
 * The values that a scenario measures.
 */
public enum Metric {

	/** Locks acquired and released per second. */
	ACQUISITIONS("acquisitions/s", false),

	/** Transactions committed per second. */
	TRANSACTIONS("transactions/s", false),

	/** Median of the time that the scenario measures. */
	P50("p50 µs", true),

	/** 99th percentile of that time. */
	P99("p99 µs", true),

	/** Maximum of that time. */
	LONGEST("longest ms", true),

	/** Fairness of the shares of the participants by Jain's index; 1 is even. */
	FAIRNESS("Jain", false),

	/** Commands that clients send for a lock, per acquisition. */
	COMMANDS("commands/acquisition", true),

	/** CPU time of the clients per acquisition. */
	CLIENT_CPU("client CPU µs/acquisition", true),

	/** Updates that were lost although the lock was held. */
	LOST_UPDATES("lost updates", true),

	/** Time from the expiry of a dead holder's key to the next acquisition. */
	AFTER_EXPIRY("ms after expiry", true),

	/** Time from the kill of a holder to the next acquisition. */
	AFTER_KILL("ms after the kill", true),

	/** CPU time of client and server for all renewals of one interval. */
	RENEWAL_CPU("CPU ms/renewal", true),

	/** Commands that clients send for all renewals of one interval. */
	RENEWAL_COMMANDS("commands/renewal", true),

	/** Memory of a held lock in the client. */
	HEAP("heap bytes/lock", true),

	/** Locks that were lost, or keys that were left behind. */
	LOST_LOCKS("lost or left", true),

	/** Commands per second while all waiters wait. */
	WAITING_COMMANDS("commands/s waiting", true),

	/** Share of one core that the client uses while all waiters wait, in percent. */
	WAITING_CPU("% of a core waiting", true),

	/** Threads that ended with an exception. */
	FAILED("failed", true),

	/** Time until all waiters have held the lock. */
	DRAIN("drained in ms", true);

	private final String label;

	private final boolean lessBetter;

	Metric(String label, boolean lessBetter) {
		this.label = label;
		this.lessBetter = lessBetter;
	}

	public String label() {
		return this.label;
	}

	public boolean isLessBetter() {
		return this.lessBetter;
	}

}
