// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

import io.github.lockstarter.faults.worker.Mode;
import io.github.lockstarter.servers.WorkerJvm;

/**
 * Faults of the instances, whatever keeps their locks.
 */
public enum WorkerFault implements Fault {

	/** The control, with which all faults are compared. */
	NOTHING(of("nothing", (attack) -> attack.last(Duration.ofMillis(500))).leavingLocksAvailable()),

	/** Shorter than the time until the next renewal. */
	HOLDER_PAUSED_BRIEFLY(of("instances paused for a quarter of the lease (SIGSTOP)", (attack) -> {
		for (WorkerJvm worker : attack.crew().workers()) {
			worker.pause();
			attack.last(attack.leases(0.25));
			worker.resume();
		}
	})),

	/** The instance resumes after its lease has expired, and does not know it yet. */
	HOLDER_PAUSED(
			of("instances paused for longer than their lease (SIGSTOP)", (attack) -> pauseAllButOne(attack, 1.5))),

	/** No owner releases the locks of the killed instances. */
	HOLDER_KILLED(of("instances killed (SIGKILL)", (attack) -> {
		attack.crew().replace(attack.anyWorker());
		attack.crew().replace(attack.anyWorker());
	})),

	/** The instance has got a new session when it uses the lock of the old one. */
	SESSION_EXPIRED(Nature.of("instances paused for longer than their session (SIGSTOP)",
			EnumSet.of(SiteKind.ZOOKEEPER), (attack) -> pauseAllButOne(attack, 3.5))),

	/** All threads are interrupted at arbitrary points. */
	INTERRUPTS(of("interrupts", (attack) -> attack.last(attack.leases(2))).with(Mode.INTERRUPTED)),

	/** Most waits end without the lock. */
	TIME_OUTS(of("waits of 0 to 8 ms", (attack) -> attack.last(attack.leases(2))).with(Mode.IMPATIENT)
		.leavingLocksAvailable()),

	/** The garbage collector pauses the JVM again and again. */
	SMALL_HEAP(of("garbage in a small heap", (attack) -> attack.last(attack.leases(2))).with(Mode.SHORT_OF_MEMORY)),

	/** For longer than any wait that ends by itself may take. */
	ANSWERS_NEVER(Nature.of("answers that never come, without a time-out of the driver",
			EnumSet.of(SiteKind.SINGLE, SiteKind.POSTGRESQL), (attack) -> {
				say(attack, "silence");
				attack.last(Duration.ofSeconds(9));
				say(attack, "speech");
			})
		.with(Mode.UNANSWERED)),

	/** The locks that they use must not be affected. */
	CROWD(Nature
		.of("callers that request many other locks and give up", SiteKind.OTHER_STORES,
				(attack) -> attack.last(attack.leases(2)))
		.with(Mode.CROWDED));

	private final Nature nature;

	WorkerFault(Nature nature) {
		this.nature = nature;
	}

	@Override
	public Nature nature() {
		return this.nature;
	}

	private static Nature of(String title, Strike strike) {
		return Nature.of(title, SiteKind.ONE_OF_EACH_STORE, strike);
	}

	private static void say(Attack attack, String line) throws IOException {
		for (WorkerJvm worker : attack.crew().workers()) {
			worker.say(line);
		}
	}

	/**
	 * Pause all instances but one, to hit one that holds a lock.
	 */
	private static void pauseAllButOne(Attack attack, double leases) throws Exception {
		List<WorkerJvm> paused = new ArrayList<>(attack.crew().workers());
		paused.remove(attack.anyWorker());
		for (WorkerJvm worker : paused) {
			worker.pause();
		}
		attack.last(attack.leases(leases));
		for (WorkerJvm worker : paused) {
			worker.resume();
		}
	}

}
