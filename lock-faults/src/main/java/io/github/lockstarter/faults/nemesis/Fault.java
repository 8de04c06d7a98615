// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import io.github.lockstarter.faults.nemesis.TcpProxy.Weather;
import io.github.lockstarter.faults.worker.Mode;
import io.github.lockstarter.testsupport.EmbeddedRedis;

/**
 * The faults, and what locks promise in spite of them.
 */
public enum Fault {

	/** The control, with which all faults are compared. */
	NOTHING("nothing", Exclusion.ALWAYS, (attack) -> attack.last(Duration.ofMillis(500))),

	/** Shorter than the time until the next renewal. */
	HOLDER_PAUSED_BRIEFLY("instances paused for a quarter of the lease (SIGSTOP)", Exclusion.ALWAYS, (attack) -> {
		for (WorkerProcess worker : attack.crew().workers()) {
			pause(attack, worker, 0.25);
		}
	}),

	/**
	 * The instance resumes after its lease has expired, and does not know it yet. All
	 * instances but one are paused, to hit one that holds a lock.
	 */
	HOLDER_PAUSED("instances paused for longer than their lease (SIGSTOP)", Exclusion.ALWAYS, (attack) -> {
		List<WorkerProcess> paused = new ArrayList<>(attack.crew().workers());
		paused.remove(attack.anyWorker());
		for (WorkerProcess worker : paused) {
			worker.pause();
		}
		attack.last(attack.leases(1.5));
		for (WorkerProcess worker : paused) {
			worker.proceed();
		}
	}),

	/** No owner releases the locks of the killed instances. */
	HOLDER_KILLED("instances killed (SIGKILL)", Exclusion.ALWAYS, (attack) -> {
		attack.crew().replace(attack.anyWorker());
		attack.crew().replace(attack.anyWorker());
	}),

	/** Shorter than the lease, so nothing is lost. */
	REDIS_PAUSED_BRIEFLY("Redis paused for half of the lease (SIGSTOP)", Exclusion.ALWAYS,
			(attack) -> pause(attack, attack.server(), attack.leases(0.5))),

	/**
	 * Longer than the lease and the time-out of a command: Redis still executes late
	 * requests.
	 */
	REDIS_PAUSED("Redis paused for longer than lease and time-outs (SIGSTOP)", Exclusion.ALWAYS,
			(attack) -> pause(attack, attack.server(), attack.leases(1.2).plusSeconds(2))),

	/** All data is lost without notice. */
	REDIS_RESTARTED("Redis killed and started again empty", Exclusion.UNTIL_NOTICED, (attack) -> {
		attack.server().kill();
		attack.last(attack.leases(0.2));
		attack.server().restart();
	}),

	/**
	 * None of the workers has a subscription when the first of them starts to wait.
	 */
	REDIS_KILLED_BEFORE_WAITS("Redis killed before the first waiter subscribes, for 8 s", Mode.HASTY,
			Exclusion.UNTIL_NOTICED, (attack) -> {
				attack.server().kill();
				for (WorkerProcess worker : attack.crew().workers()) {
					worker.say("wait");
				}
				attack.last(Duration.ofSeconds(8));
				attack.server().restart();
			}),

	/** All data is lost, although Redis was always available. */
	FLUSHED("FLUSHALL", Exclusion.UNTIL_NOTICED, (attack) -> repeat(attack, () -> attack.toAll("FLUSHALL"))),

	/** An operator deletes keys. */
	DELETED("DEL of the locks", Exclusion.UNTIL_NOTICED,
			(attack) -> repeat(attack, () -> attack.keys().forEach((key) -> attack.server().command("DEL", key)))),

	/** Redis evicts keys to free memory. */
	EVICTED("eviction (maxmemory)", Exclusion.UNTIL_NOTICED, (attack) -> {
		attack.server().command("CONFIG", "SET", "maxmemory-policy", "allkeys-random");
		attack.server().command("CONFIG", "SET", "maxmemory", "1");
		attack.last(attack.leases(0.7));
		attack.server().command("CONFIG", "SET", "maxmemory", "0");
	}),

	/** As after a restart of a replica. */
	SCRIPTS_FLUSHED("SCRIPT FLUSH", Exclusion.ALWAYS,
			(attack) -> repeat(attack, () -> attack.toAll("SCRIPT", "FLUSH"))),

	/** Requests under way have an unknown outcome. */
	CONNECTIONS_KILLED("CLIENT KILL of all connections", Exclusion.ALWAYS,
			(attack) -> repeat(attack, () -> attack.toAll("CLIENT", "KILL", "TYPE", "normal"))),

	/** Messages are lost. */
	SUBSCRIPTIONS_KILLED("CLIENT KILL of all subscriptions", Exclusion.ALWAYS,
			(attack) -> repeat(attack, () -> attack.toAll("CLIENT", "KILL", "TYPE", "pubsub"))),

	/** Requests are executed, but their replies are lost. */
	ANSWERS_CUT("connections cut before the answer", Exclusion.ALWAYS,
			(attack) -> weather(attack, Weather.CUT, attack.leases(0.7))),

	/** Every command takes a part of the lease. */
	ANSWERS_SLOW("answers 400 ms late", Exclusion.ALWAYS, (attack) -> weather(attack, Weather.SLOW, attack.leases(2))),

	/** Only time-outs reveal it. */
	BLACK_HOLE("network that swallows everything, for longer than the lease", Exclusion.ALWAYS,
			(attack) -> weather(attack, Weather.BLACK_HOLE, attack.leases(1.2).plusSeconds(2))),

	/** All threads are interrupted at arbitrary points. */
	INTERRUPTS("interrupts", Mode.INTERRUPTED, Exclusion.ALWAYS, (attack) -> attack.last(attack.leases(2))),

	/** Most waits end without the lock. */
	TIME_OUTS("waits of 0 to 8 ms", Mode.IMPATIENT, Exclusion.ALWAYS, (attack) -> attack.last(attack.leases(2))),

	/** The garbage collector pauses the JVM again and again. */
	SMALL_HEAP("garbage in a small heap", Mode.SHORT_OF_MEMORY, Exclusion.ALWAYS,
			(attack) -> attack.last(attack.leases(2))),

	/**
	 * By the time it is notified of a release, nearer instances have already requested
	 * the lock.
	 */
	DISTANCE("network with a round trip of 30 ms for one instance", SiteKind.DISTANT, Mode.LONELY, Exclusion.ALWAYS,
			(attack) -> attack.last(attack.leases(4))),

	/** All leases expire at once, and the owners do not know it. */
	CLOCK_FORWARD("clock of Redis set forward by ten leases", SiteKind.CLOCK, Exclusion.UNTIL_NOTICED,
			(attack) -> repeat(attack, () -> attack.clock().move(attack.leases(10)))),

	/** Locks and queues live longer than requested. */
	CLOCK_BACKWARD("clock of Redis set back, by two leases in all", SiteKind.CLOCK, Exclusion.ALWAYS,
			(attack) -> repeat(attack, () -> attack.clock().move(attack.leases(-0.3)))),

	/** The replica may lack the last writes. */
	FAILOVER("Sentinel failover after the primary was killed", SiteKind.SENTINEL, Exclusion.UNLESS_CONFIRMED,
			(attack) -> {
				attack.server().kill();
				attack.sentinels().exchange();
			}),

	/** The replica certainly lacks the last writes. */
	FAILOVER_UNREPLICATED("the same while the replica lagged behind", SiteKind.SENTINEL, Exclusion.UNLESS_CONFIRMED,
			(attack) -> {
				Processes.stop(attack.sentinels().replica().pid());
				attack.last(attack.leases(0.3));
				attack.server().kill();
				Processes.proceed(attack.sentinels().replica().pid());
				attack.sentinels().exchange();
			}),

	/** Requests are redirected, and scripts find only some of their keys on a node. */
	SLOTS_MOVED("Cluster slots moved to other nodes", SiteKind.CLUSTER, Exclusion.ALWAYS, (attack) -> {
		for (int i = 0; i < 3; i++) {
			for (String key : attack.keys()) {
				attack.cluster().moveSlotOf(key, () -> LockSupport.parkNanos(20_000_000));
			}
		}
	}),

	/** The locks of the other nodes must not be affected. */
	NODE_PAUSED("Cluster node paused for longer than lease and time-outs (SIGSTOP)", SiteKind.CLUSTER, Exclusion.ALWAYS,
			(attack) -> pause(attack, attack.cluster().nodeOf(attack.keys().get(0)),
					attack.leases(1.2).plusSeconds(2))),

	/**
	 * No holder has a lock on that node, but many callers request locks there and give
	 * up.
	 */
	NODE_SILENT("Cluster node silent while callers give up on it (SIGSTOP)", SiteKind.CLUSTER, Mode.CROWDED,
			Exclusion.ALWAYS, (attack) -> pause(attack, attack.unusedNode(), attack.leases(3).plusSeconds(2))),

	/** The data of the node is lost. */
	NODE_RESTARTED("Cluster node killed and started again empty", SiteKind.CLUSTER, Exclusion.UNTIL_NOTICED,
			(attack) -> {
				EmbeddedRedis node = attack.cluster().nodeOf(attack.keys().get(0));
				node.kill();
				attack.last(attack.leases(0.2));
				node.restart();
			});

	private final String title;

	private final SiteKind site;

	private final Mode mode;

	private final Exclusion exclusion;

	private final Strike strike;

	Fault(String title, Exclusion exclusion, Strike strike) {
		this(title, SiteKind.SINGLE, Mode.CALM, exclusion, strike);
	}

	Fault(String title, SiteKind site, Exclusion exclusion, Strike strike) {
		this(title, site, Mode.CALM, exclusion, strike);
	}

	Fault(String title, Mode mode, Exclusion exclusion, Strike strike) {
		this(title, SiteKind.SINGLE, mode, exclusion, strike);
	}

	Fault(String title, SiteKind site, Mode mode, Exclusion exclusion, Strike strike) {
		this.title = title;
		this.site = site;
		this.mode = mode;
		this.exclusion = exclusion;
		this.strike = strike;
	}

	public String title() {
		return this.title;
	}

	/**
	 * Return the kind of site that the fault needs.
	 */
	public SiteKind site() {
		return this.site;
	}

	public Mode mode() {
		return this.mode;
	}

	public Exclusion exclusion() {
		return this.exclusion;
	}

	/**
	 * Cause the fault, and repair it.
	 */
	public void strike(Attack attack) throws Exception {
		this.strike.run(attack);
	}

	private static void pause(Attack attack, WorkerProcess worker, double leases) throws Exception {
		worker.pause();
		attack.last(attack.leases(leases));
		worker.proceed();
	}

	private static void pause(Attack attack, EmbeddedRedis server, Duration duration) throws Exception {
		Processes.stop(server.pid());
		attack.last(duration);
		Processes.proceed(server.pid());
	}

	private static void repeat(Attack attack, Runnable harm) throws Exception {
		for (int i = 0; i < 7; i++) {
			harm.run();
			attack.last(attack.leases(0.13));
		}
	}

	private static void weather(Attack attack, Weather weather, Duration duration) throws Exception {
		attack.site().network().setWeather(weather);
		attack.last(duration);
		attack.site().network().setWeather(Weather.FINE);
	}

	/**
	 * The time for which two owners may believe that they hold the same lock.
	 */
	public enum Exclusion {

		/** Never: the assumptions of a lease hold. */
		ALWAYS,

		/** Until the next renewal tells the first owner that Redis has lost its lock. */
		UNTIL_NOTICED,

		/** The same, but never if replicas have confirmed each grant. */
		UNLESS_CONFIRMED

	}

}
