// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.time.Duration;
import java.util.EnumSet;

import io.github.lockstarter.faults.worker.Mode;
import io.github.lockstarter.servers.Network;

/**
 * Faults of Redis servers that know nothing of each other.
 */
public enum IndependentFault implements Fault {

	/** A majority has all locks. */
	SERVER_KILLED(of("one of three servers killed for longer than the lease", ServerStrikes::killOne)
		.leavingLocksAvailable()),

	/** Each server has forgotten all locks once, but never two servers at a time. */
	SERVERS_RESTARTED(
			of("three servers killed and started again empty, one after the other", ServerStrikes::restartEach)
				.leavingLocksAvailable()),

	/** It executes requests late, also of owners that have released their locks. */
	SERVER_PAUSED(
			of("one of three servers paused for longer than lease and time-outs (SIGSTOP)", ServerStrikes::pauseOne)
				.leavingLocksAvailable()),

	/** All leases expire there at once. */
	SERVER_CLOCK_FORWARD(of("clock of one of three servers set forward by ten leases",
			(attack) -> ServerStrikes.moveClock(attack, 10))
		.leavingLocksAvailable()),

	/** Locks live longer there than requested. */
	SERVER_CLOCK_BACKWARD(of("clock of one of three servers set back, by two leases in all",
			(attack) -> ServerStrikes.moveClock(attack, -0.3))
		.leavingLocksAvailable()),

	/** Each instance has another majority. */
	PARTITION(of("each instance cut off from another one of three servers",
			(attack) -> ServerStrikes.partition(attack, Network::cut))
		.leavingLocksAvailable()),

	/** Servers execute requests whose owners never hear of it. */
	PARTITION_ONE_WAY(of("each instance without the answers of another one of three servers",
			(attack) -> ServerStrikes.partition(attack, Network::cutAnswers))
		.leavingLocksAvailable()),

	/** Its locks expire, and the other instances go on. */
	INSTANCE_CUT_OFF(of("one instance cut off from two of three servers", ServerStrikes::isolate)),

	/** No lock can be acquired, and each owner must notice in time. */
	MAJORITY_PAUSED(
			of("two of three servers paused for longer than lease and time-outs (SIGSTOP)", ServerStrikes::pauseTwo)),

	/** All locks have expired when the servers are back. */
	MAJORITY_KILLED(of("two of three servers killed for longer than the lease, and started again empty",
			ServerStrikes::killTwo)),

	/** A majority has forgotten all locks while their leases last. */
	MAJORITY_RESTARTED(of("two of three servers killed and started again empty at once", ServerStrikes::restartTwo)),

	/** The same, but the servers have not been restarted, and have a vote. */
	MAJORITY_FLUSHED(of("FLUSHALL on two of three servers", ServerStrikes::flushTwo).with(Exclusion.UNTIL_NOTICED));

	private final Nature nature;

	IndependentFault(Nature nature) {
		this.nature = nature;
	}

	@Override
	public Nature nature() {
		return this.nature;
	}

	private static Nature of(String title, Strike strike) {
		return Nature.of(title, EnumSet.of(SiteKind.INDEPENDENT), strike).with(Mode.LINGERING);
	}

}
