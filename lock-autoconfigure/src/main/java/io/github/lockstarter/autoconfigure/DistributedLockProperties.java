// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.AdviceMode;

import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.Rule;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnPersistenceContext;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.interceptor.DistributedLockAdvisor;

/**
 * Configuration properties for distributed locks.
 *
 * @param enabled Whether locks are distributed. If not, they are kept in this JVM.
 * @param store Store of all locks that name no registry; memory is for a single JVM. auto
 * selects the only or primary LockStore bean, or without one the only kind of store on
 * the class path.
 * @param keyPrefix Start of every key and channel in Redis, also with Redlock.
 * @param instanceName Name of this instance, which others see when it holds a lock. If
 * not set, the name of the application, the host and the process, as in
 * orders@web-7f9c:1.
 * @param waitTime Longest time to wait for a lock, for annotations and requests that do
 * not set their own. 0s does not wait.
 * @param leaseTime Length of a lease without a fixed lease time, from 100ms to 365d. It
 * is renewed while its owner lives; the locks of a crashed instance expire after this
 * time, with ZooKeeper when its session expires.
 * @param adviceMode Whether proxies or woven classes acquire the locks of annotated
 * methods.
 * @param adviceOrder Order of the lock among the advisors of a method. Lower values are
 * further outside; it has to be lower than that of transactions. Weaving ignores it.
 * @param onActiveTransaction What to do if a lock is acquired while a transaction is
 * already active.
 * @param persistenceContext What to do if a lock is acquired while a persistence context
 * of JPA, such as that of open-in-view, is open without a transaction.
 * @param shutdownTimeout Longest time to wait for holders when the application stops.
 * @param warnAfterWait After what time of waiting for a lock to log a warning that names
 * its holder. 0s for never.
 * @param warnAfterHold After what time of holding a lock to log a warning with the stack
 * of its thread. 0s for never.
 * @param watchdog Settings of the renewal of leases.
 * @param waiting Settings of instances that wait for a lock.
 * @param fencing Settings of fenced transactions.
 * @param redis Settings of the Redis store.
 * @param jdbc Settings of the JDBC store.
 * @param zookeeper Settings of the ZooKeeper store.
 * @param redlock Settings of the Redlock store.
 * @param locks Settings of single lock names, where an annotation or a request leaves
 * them open. Put a name with a dot, $ or # in brackets, as in [order.place].
 */
@ConfigurationProperties(prefix = DistributedLockProperties.PREFIX, ignoreUnknownFields = false)
public record DistributedLockProperties(@DefaultValue("true") boolean enabled, @DefaultValue("auto") Store store,
		@DefaultValue("lock:") String keyPrefix, @Nullable String instanceName, @DefaultValue("10s") Duration waitTime,
		@DefaultValue("30s") Duration leaseTime, @DefaultValue("proxy") AdviceMode adviceMode,
		@DefaultValue("" + DistributedLockAdvisor.DEFAULT_ORDER) int adviceOrder,
		@DefaultValue("default") OnActiveTransaction onActiveTransaction,
		@DefaultValue("default") OnPersistenceContext persistenceContext, @DefaultValue("20s") Duration shutdownTimeout,
		@DefaultValue("5s") Duration warnAfterWait, @DefaultValue("1m") Duration warnAfterHold,
		@DefaultValue Watchdog watchdog, @DefaultValue Waiting waiting,
		@NestedConfigurationProperty @DefaultValue FencingProperties fencing, @DefaultValue Redis redis,
		@NestedConfigurationProperty @DefaultValue JdbcLockProperties jdbc,
		@NestedConfigurationProperty @DefaultValue ZooKeeperLockProperties zookeeper,
		@NestedConfigurationProperty @DefaultValue RedlockProperties redlock,
		@DefaultValue Map<String, LockNameProperties> locks) {

	static final String PREFIX = "distributed-lock";

	private static final Rule<Duration> LEASE_TIME = Rule.leaseFrom(Duration.ofMillis(100));

	public DistributedLockProperties {
		PropertyChecks.require("key-prefix", keyPrefix, Rule.KEY_PREFIX);
		if (instanceName != null) {
			PropertyChecks.require("instance-name", instanceName, Rule.INSTANCE_NAME);
		}
		PropertyChecks.require("wait-time", waitTime, Rule.NOT_NEGATIVE);
		PropertyChecks.require("lease-time", leaseTime, LEASE_TIME);
		PropertyChecks.require("shutdown-timeout", shutdownTimeout, Rule.NOT_NEGATIVE);
		PropertyChecks.require("warn-after-wait", warnAfterWait, Rule.NOT_NEGATIVE);
		PropertyChecks.require("warn-after-hold", warnAfterHold, Rule.NOT_NEGATIVE);
		PropertyChecks.requireAtLeast("redis.fence-retention", redis.fenceRetention, leaseTime);
		PropertyChecks.requireAtLeast("jdbc.fence-retention", jdbc.fenceRetention(), leaseTime);
		PropertyChecks.requireAtLeast("redlock.fence-retention", redlock.fenceRetention(), leaseTime);
		PropertyChecks.requireAtLeast("fencing.retention", fencing.retention(), leaseTime);
		locks.forEach((name, lock) -> lock.settings(name));
	}

	/**
	 * Return the name of the table of fenced transactions: applications with tables of
	 * locks of their own do not share it.
	 */
	String fenceTable() {
		String table = this.fencing.table();
		return (table != null) ? table : this.jdbc.table() + "_fence";
	}

	LockSettings lockSettings() {
		return new LockSettings(this.locks.entrySet()
			.stream()
			.collect(Collectors.toMap(Map.Entry::getKey, (lock) -> lock.getValue().settings(lock.getKey()))));
	}

	EngineSettings engineSettings(@Nullable String application) {
		return new EngineSettings(this.waitTime, this.leaseTime, this.watchdog.renewalsPerLease,
				this.waiting.pollInterval, this.waiting.pollIntervalWithoutMessages, this.waiting.timeSlice,
				this.shutdownTimeout, this.waiting.outageTime,
				(this.instanceName != null) ? this.instanceName : OwnerToken.instance(application), this.warnAfterWait,
				this.warnAfterHold);
	}

	/**
	 * Kinds of stores.
	 */
	public enum Store {

		/**
		 * The only or primary LockStore bean, or else the only kind of store on the class
		 * path.
		 */
		AUTO,

		/**
		 * The Redis of the application.
		 */
		REDIS,

		/**
		 * The database of a DataSource of the application.
		 */
		JDBC,

		/**
		 * An ensemble of Apache ZooKeeper.
		 */
		ZOOKEEPER,

		/**
		 * A majority of independent Redis servers.
		 */
		REDLOCK,

		/**
		 * The memory of this JVM.
		 */
		MEMORY

	}

	/**
	 * Settings of the renewal of leases.
	 *
	 * @param renewalsPerLease How often a lease is renewed within its length, from 2 to
	 * 20. The loss of a lock in the store is noticed at the next renewal.
	 */
	public record Watchdog(@DefaultValue("3") int renewalsPerLease) {

		public Watchdog {
			PropertyChecks.require("watchdog.renewals-per-lease", renewalsPerLease, EngineSettings.RENEWALS_PER_LEASE);
		}

	}

	/**
	 * Settings of instances that wait for a lock.
	 *
	 * @param pollInterval Longest time between two requests while messages about released
	 * locks arrive, at most 30s.
	 * @param pollIntervalWithoutMessages Longest time between two requests while no
	 * messages arrive, for example because Redis refuses SUBSCRIBE.
	 * @param timeSlice How long an instance passes a lock on among its own threads before
	 * it releases it, or 20 round trips to the store if these take longer.
	 * @param outageTime How long a call repeats its requests during an outage before it
	 * fails, within its wait time. 0s does not repeat them.
	 */
	public record Waiting(@DefaultValue("1s") Duration pollInterval,
			@DefaultValue("30ms") Duration pollIntervalWithoutMessages, @DefaultValue("50ms") Duration timeSlice,
			@DefaultValue("2s") Duration outageTime) {

		/** Half of the time after which stores forget the place of an instance. */
		private static final Duration LONGEST_POLL_INTERVAL = Duration.ofSeconds(30);

		public Waiting {
			PropertyChecks.require("waiting.poll-interval", pollInterval, Rule.POSITIVE);
			PropertyChecks.require(pollInterval.compareTo(LONGEST_POLL_INTERVAL) <= 0, "waiting.poll-interval",
					pollInterval,
					"It must be at most 30s, because an instance that asks less often counts as dead, and is not"
							+ " notified.");
			PropertyChecks.require("waiting.poll-interval-without-messages", pollIntervalWithoutMessages,
					Rule.POSITIVE);
			PropertyChecks.require("waiting.time-slice", timeSlice, Rule.NOT_NEGATIVE);
			PropertyChecks.require("waiting.outage-time", outageTime, Rule.NOT_NEGATIVE);
		}

	}

	/**
	 * Settings of the Redis store.
	 *
	 * @param fenceRetention How long the last fencing token of an idle lock is kept. At
	 * least the lease time.
	 * @param awaitRelease Whether a release waits for the answer of the server, so that
	 * the lock is free for all instances when the call returns. Drivers other than
	 * Lettuce always wait.
	 * @param minReplicaAcks How many replicas must confirm a grant before it counts, so
	 * that it survives a failover. 0 does not ask them.
	 * @param replicaAckTimeout How long a grant waits for these replicas, at most 1s.
	 */
	public record Redis(@DefaultValue("24h") Duration fenceRetention, @DefaultValue("false") boolean awaitRelease,
			@DefaultValue("0") int minReplicaAcks, @DefaultValue("500ms") Duration replicaAckTimeout) {

		private static final Duration LONGEST_ACK_TIMEOUT = Duration.ofSeconds(1);

		public Redis {
			PropertyChecks.require(minReplicaAcks >= 0, "redis.min-replica-acks", minReplicaAcks,
					"It must not be negative.");
			PropertyChecks.require("redis.replica-ack-timeout", replicaAckTimeout, Rule.POSITIVE);
			PropertyChecks.require(replicaAckTimeout.compareTo(LONGEST_ACK_TIMEOUT) <= 0, "redis.replica-ack-timeout",
					replicaAckTimeout, "It has to be at most 1s, shorter than the time-out of a command.");
		}

	}

}
