// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.time.Duration;
import java.util.EnumSet;

import io.github.lockstarter.faults.worker.Mode;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.servers.WorkerJvm;

/**
 * Faults of one Redis server.
 */
public enum RedisFault implements Fault {

	/** Shorter than the lease, so nothing is lost. */
	REDIS_PAUSED_BRIEFLY(of("Redis paused for half of the lease (SIGSTOP)",
			(attack) -> pause(attack, server(attack), attack.leases(0.5)))),

	/**
	 * Longer than the lease and the time-out of a command: Redis still executes late
	 * requests.
	 */
	REDIS_PAUSED(of("Redis paused for longer than lease and time-outs (SIGSTOP)",
			(attack) -> pause(attack, server(attack), attack.longerThanLease()))),

	/** All data is lost without notice. */
	REDIS_RESTARTED(of("Redis killed and started again empty", (attack) -> {
		server(attack).kill();
		attack.last(attack.leases(0.2));
		server(attack).restart();
	}).with(Exclusion.UNTIL_NOTICED)),

	/**
	 * None of the workers has a subscription when the first of them starts to wait.
	 */
	REDIS_KILLED_BEFORE_WAITS(of("Redis killed before the first waiter subscribes, for 8 s", (attack) -> {
		server(attack).kill();
		for (WorkerJvm worker : attack.crew().workers()) {
			worker.say("wait");
		}
		attack.last(Duration.ofSeconds(8));
		server(attack).restart();
	}).with(Mode.HASTY).with(Exclusion.UNTIL_NOTICED)),

	/** All data is lost, although Redis was always available. */
	FLUSHED(of("FLUSHALL", (attack) -> attack.repeat(() -> attack.redis().toAll("FLUSHALL")))
		.with(Exclusion.UNTIL_NOTICED)),

	/** An operator deletes keys. */
	DELETED(of("DEL of the locks",
			(attack) -> attack.repeat(() -> attack.keys().forEach((key) -> server(attack).command("DEL", key))))
		.with(Exclusion.UNTIL_NOTICED)),

	/** Redis evicts keys to free memory. */
	EVICTED(of("eviction (maxmemory)", (attack) -> {
		server(attack).command("CONFIG", "SET", "maxmemory-policy", "allkeys-random");
		server(attack).command("CONFIG", "SET", "maxmemory", "1");
		attack.last(attack.leases(0.7));
		server(attack).command("CONFIG", "SET", "maxmemory", "0");
	}).with(Exclusion.UNTIL_NOTICED)),

	/** As after a restart of a replica. */
	SCRIPTS_FLUSHED(of("SCRIPT FLUSH", (attack) -> attack.repeat(() -> attack.redis().toAll("SCRIPT", "FLUSH")))),

	/** Requests under way have an unknown outcome. */
	CONNECTIONS_KILLED(of("CLIENT KILL of all connections",
			(attack) -> attack.repeat(() -> attack.redis().toAll("CLIENT", "KILL", "TYPE", "normal")))),

	/** Messages are lost. */
	SUBSCRIPTIONS_KILLED(of("CLIENT KILL of all subscriptions",
			(attack) -> attack.repeat(() -> attack.redis().toAll("CLIENT", "KILL", "TYPE", "pubsub")))),

	/**
	 * By the time it is notified of a release, nearer instances have already requested
	 * the lock.
	 */
	DISTANCE(Nature
		.of("network with a round trip of 30 ms for one instance", EnumSet.of(SiteKind.DISTANT),
				(attack) -> attack.last(attack.leases(4)))
		.with(Mode.LONELY)),

	/** All leases expire at once, and the owners do not know it. */
	CLOCK_FORWARD(Nature
		.of("clock of Redis set forward by ten leases", EnumSet.of(SiteKind.CLOCK),
				(attack) -> attack.repeat(() -> clock(attack).move(attack.leases(10))))
		.with(Exclusion.UNTIL_NOTICED)),

	/** Locks and queues live longer than requested. */
	CLOCK_BACKWARD(Nature.of("clock of Redis set back, by two leases in all", EnumSet.of(SiteKind.CLOCK),
			(attack) -> attack.repeat(() -> clock(attack).move(attack.leases(-0.3)))));

	private final Nature nature;

	RedisFault(Nature nature) {
		this.nature = nature;
	}

	@Override
	public Nature nature() {
		return this.nature;
	}

	private static Nature of(String title, Strike strike) {
		return Nature.of(title, EnumSet.of(SiteKind.SINGLE), strike);
	}

	private static RedisServer server(Attack attack) {
		return attack.redis().servers().get(0);
	}

	private static MovableClock clock(Attack attack) {
		return ((ClockSite) attack.site()).clock();
	}

	private static void pause(Attack attack, RedisServer server, Duration duration) throws Exception {
		server.pause();
		attack.last(duration);
		server.resume();
	}

}
