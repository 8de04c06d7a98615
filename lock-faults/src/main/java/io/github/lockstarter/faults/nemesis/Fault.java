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
 * The ways in which the world goes wrong, and what locks have to promise all the same.
 */
public enum Fault {

	/** The control: everything else is compared with it. */
	NOTHING("nothing", Exclusion.ALWAYS, (attack) -> attack.last(Duration.ofMillis(500))),

	/** Shorter than the time until the next renewal. */
	HOLDER_PAUSED_BRIEFLY("instances paused for a quarter of the lease (SIGSTOP)", Exclusion.ALWAYS, (attack) -> {
		for (WorkerProcess worker : attack.crew().workers()) {
			pause(attack, worker, 0.25);
		}
	}),

	/**
	 * Wakes up after its lease, and does not know yet. All but one, to hit one that holds
	 * a lock.
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

	/** Nobody gives its locks back. */
	HOLDER_KILLED("instances killed (SIGKILL)", Exclusion.ALWAYS, (attack) -> {
		attack.crew().replace(attack.anyWorker());
		attack.crew().replace(attack.anyWorker());
	}),

	/** Shorter than the lease, so nothing is lost. */
	REDIS_PAUSED_BRIEFLY("Redis paused for half of the lease (SIGSTOP)", Exclusion.ALWAYS,
			(attack) -> pause(attack, attack.server(), attack.leases(0.5))),

	/**
	 * Longer than the lease, and than the time-out of a command: late requests are still
	 * done.
	 */
	REDIS_PAUSED("Redis paused for longer than lease and time-outs (SIGSTOP)", Exclusion.ALWAYS,
			(attack) -> pause(attack, attack.server(), attack.leases(1.2).plusSeconds(2))),

	/** All data is gone, without a word to anybody. */
	REDIS_RESTARTED("Redis killed and started again empty", Exclusion.UNTIL_NOTICED, (attack) -> {
		attack.server().kill();
		attack.last(attack.leases(0.2));
		attack.server().restart();
	}),

	/**
	 * None of the workers has a subscription yet when the first of them wants to wait.
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

	/** All data is gone, and Redis was never away. */
	FLUSHED("FLUSHALL", Exclusion.UNTIL_NOTICED, (attack) -> repeat(attack, () -> attack.toAll("FLUSHALL"))),

	/** Somebody tidies up. */
	DELETED("DEL of the locks", Exclusion.UNTIL_NOTICED,
			(attack) -> repeat(attack, () -> attack.keys().forEach((key) -> attack.server().command("DEL", key)))),

	/** Redis makes room. */
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

	/** Requests are done, and nobody learns of it. */
	ANSWERS_CUT("connections cut before the answer", Exclusion.ALWAYS,
			(attack) -> weather(attack, Weather.CUT, attack.leases(0.7))),

	/** Everything takes a part of the lease. */
	ANSWERS_SLOW("answers 400 ms late", Exclusion.ALWAYS, (attack) -> weather(attack, Weather.SLOW, attack.leases(2))),

	/** Nobody notices but by waiting. */
	BLACK_HOLE("network that swallows everything, for longer than the lease", Exclusion.ALWAYS,
			(attack) -> weather(attack, Weather.BLACK_HOLE, attack.leases(1.2).plusSeconds(2))),

	/** Of all threads, wherever they are. */
	INTERRUPTS("interrupts", Mode.INTERRUPTED, Exclusion.ALWAYS, (attack) -> attack.last(attack.leases(2))),

	/** Most waits end without the lock. */
	TIME_OUTS("waits of 0 to 8 ms", Mode.IMPATIENT, Exclusion.ALWAYS, (attack) -> attack.last(attack.leases(2))),

	/** The collector stops the world again and again. */
	SMALL_HEAP("garbage in a small heap", Mode.SHORT_OF_MEMORY, Exclusion.ALWAYS,
			(attack) -> attack.last(attack.leases(2))),

	/**
	 * By the time it has been told that a lock is free, those who are near have asked.
	 */
	DISTANCE("network with a round trip of 30 ms for one instance", SiteKind.DISTANT, Mode.LONELY, Exclusion.ALWAYS,
			(attack) -> attack.last(attack.leases(4))),

	/** All leases end at once, and the owners do not know. */
	CLOCK_FORWARD("clock of Redis set forward by ten leases", SiteKind.CLOCK, Exclusion.UNTIL_NOTICED,
			(attack) -> repeat(attack, () -> attack.clock().move(attack.leases(10)))),

	/** Locks and queues live for longer than was asked. */
	CLOCK_BACKWARD("clock of Redis set back, by two leases in all", SiteKind.CLOCK, Exclusion.ALWAYS,
			(attack) -> repeat(attack, () -> attack.clock().move(attack.leases(-0.3)))),

	/** The replica may lack the last writes. */
	FAILOVER("Sentinel failover after the primary was killed", SiteKind.SENTINEL, Exclusion.UNLESS_CONFIRMED,
			(attack) -> {
				attack.server().kill();
				attack.sentinels().exchange();
			}),

	/** The replica lacks the last writes for certain. */
	FAILOVER_UNREPLICATED("the same while the replica lagged behind", SiteKind.SENTINEL, Exclusion.UNLESS_CONFIRMED,
			(attack) -> {
				Processes.stop(attack.sentinels().replica().pid());
				attack.last(attack.leases(0.3));
				attack.server().kill();
				Processes.proceed(attack.sentinels().replica().pid());
				attack.sentinels().exchange();
			}),

	/** Requests are sent on, and scripts meet keys that are half here and half there. */
	SLOTS_MOVED("Cluster slots moved to other nodes", SiteKind.CLUSTER, Exclusion.ALWAYS, (attack) -> {
		for (int i = 0; i < 3; i++) {
			for (String key : attack.keys()) {
				attack.cluster().moveSlotOf(key, () -> LockSupport.parkNanos(20_000_000));
			}
		}
	}),

	/** The locks of the other nodes have nothing to do with that. */
	NODE_PAUSED("Cluster node paused for longer than lease and time-outs (SIGSTOP)", SiteKind.CLUSTER, Exclusion.ALWAYS,
			(attack) -> pause(attack, attack.cluster().nodeOf(attack.keys().get(0)),
					attack.leases(1.2).plusSeconds(2))),

	/** Nobody who holds a lock uses it, but many ask it for others and give up. */
	NODE_SILENT("Cluster node silent while callers give up on it (SIGSTOP)", SiteKind.CLUSTER, Mode.CROWDED,
			Exclusion.ALWAYS, (attack) -> pause(attack, attack.unusedNode(), attack.leases(3).plusSeconds(2))),

	/** Its data is gone. */
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
	 * Return what kind of Redis it happens to.
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
	 * Let it happen, and mend it.
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
	 * For how long two owners may believe that they hold the same lock.
	 */
	public enum Exclusion {

		/** Never: the assumptions of a lease hold. */
		ALWAYS,

		/** Until the next renewal tells the first one that Redis has lost its lock. */
		UNTIL_NOTICED,

		/** The same, but never if replicas have confirmed each grant. */
		UNLESS_CONFIRMED

	}

}
