// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;
import java.util.Locale;
import java.util.Set;

import io.github.lockstarter.faults.worker.ServerAddress.Kind;

/**
 * The competitors whose locks are attacked.
 */
public enum Competitor {

	/** The locks of this project. */
	OURS("ours", Kind.SINGLE, Kind.SENTINEL, Kind.CLUSTER),

	/** The same, with transactions that are checked before the commit but not fenced. */
	OURS_UNFENCED("ours, transactions not fenced", Kind.SINGLE, Kind.SENTINEL, Kind.CLUSTER),

	/** The same as the first, with a replica that confirms each grant. */
	OURS_CONFIRMED("ours, min-replica-acks 1", Kind.SENTINEL),

	/** The same as the first, on connections of Jedis. */
	OURS_JEDIS("ours, Jedis", Kind.SINGLE, Kind.SENTINEL, Kind.CLUSTER),

	/** The locks of this project on a majority of independent servers. */
	OURS_REDLOCK("ours, Redlock", Kind.INDEPENDENT),

	/** The locks of this project in PostgreSQL. */
	OURS_POSTGRESQL("ours, PostgreSQL", Kind.POSTGRESQL),

	/** The locks of this project in MariaDB. */
	OURS_MARIADB("ours, MariaDB", Kind.MARIADB),

	/** The locks of this project in ZooKeeper. */
	OURS_ZOOKEEPER("ours, ZooKeeper", Kind.ZOOKEEPER),

	/** Redisson's {@code RFencedLock}. */
	REDISSON("Redisson", Kind.SINGLE, Kind.SENTINEL, Kind.CLUSTER),

	/** Redisson's {@code RedissonRedLock}, on independent servers as well. */
	REDISSON_REDLOCK("RedissonRedLock", Kind.INDEPENDENT),

	/** Spring Integration's {@code RedisLockRegistry}. */
	SPRING_INTEGRATION("Spring Integration", Kind.SINGLE, Kind.SENTINEL, Kind.CLUSTER),

	/** Spring Integration's {@code JdbcLockRegistry}. */
	SPRING_INTEGRATION_JDBC("Spring Integration, JDBC", Kind.POSTGRESQL, Kind.MARIADB),

	/** ShedLock's {@code JdbcTemplateLockProvider}. */
	SHEDLOCK_JDBC("ShedLock, JDBC", Kind.POSTGRESQL, Kind.MARIADB),

	/** Curator's {@code InterProcessMutex}. */
	CURATOR("Curator", Kind.ZOOKEEPER);

	private final String title;

	private final Set<Kind> kinds;

	Competitor(String title, Kind... kinds) {
		this.title = title;
		this.kinds = Set.of(kinds);
	}

	public String title() {
		return this.title;
	}

	/**
	 * Return whether the locks can be kept by these servers.
	 */
	public boolean isSuitedTo(Kind kind) {
		return this.kinds.contains(kind);
	}

	/**
	 * Return whether this is a lock of this project.
	 */
	public boolean isOurs() {
		return switch (this) {
			case OURS, OURS_UNFENCED, OURS_CONFIRMED, OURS_JEDIS, OURS_REDLOCK, OURS_POSTGRESQL, OURS_MARIADB,
					OURS_ZOOKEEPER ->
				true;
			default -> false;
		};
	}

	/**
	 * Return whether there are fencing tokens.
	 */
	public boolean isFenced() {
		return isOurs() || this == REDISSON;
	}

	/**
	 * Return whether the transactions that a lock protects lose no update in spite of all
	 * faults.
	 */
	public boolean protectsTransactions() {
		return isOurs() && this != OURS_UNFENCED;
	}

	/**
	 * Return whether a nested grant has the token of the outer one; in Redisson it has
	 * its own.
	 */
	public boolean keepsTokenWhenNested() {
		return isOurs();
	}

	/**
	 * Return whether a token was issued by the store, and not in a hand-off.
	 */
	public boolean isFromStore(long token) {
		return !isOurs() || token % 4096 == 0;
	}

	/**
	 * Return the key of a lock in Redis.
	 */
	public String redisKey(String key) {
		return String.format(Locale.ROOT, isOurs() ? "lock:{faults:%s}" : "faults:%s", key);
	}

	/**
	 * Return whether something may be left without holders and waiters: the last fencing
	 * token, and for some seconds a release that a driver may repeat.
	 */
	public boolean mayBeLeft(String storedKey) {
		return storedKey.endsWith(":fence") || storedKey.contains(":released:")
				|| storedKey.startsWith("redisson_lock_token");
	}

	/**
	 * Connect to the servers.
	 */
	LockClient connect(ServerAddress address, Duration leaseTime) {
		return switch (this) {
			case OURS, OURS_UNFENCED -> OurClient.onRedis(SpringConnections.withLettuce(address), leaseTime, 0);
			case OURS_CONFIRMED -> OurClient.onRedis(SpringConnections.withLettuce(address), leaseTime, 1);
			case OURS_JEDIS -> OurClient.onRedis(SpringConnections.withJedis(address), leaseTime, 0);
			case OURS_REDLOCK -> OurClient.onIndependentServers(address, leaseTime);
			case OURS_POSTGRESQL, OURS_MARIADB -> OurClient.inDatabase(address, leaseTime);
			case OURS_ZOOKEEPER -> OurClient.inZooKeeper(address, leaseTime);
			case REDISSON -> new RedissonClientLock(address, leaseTime);
			case REDISSON_REDLOCK -> new RedissonRedlockClient(address, leaseTime);
			case SPRING_INTEGRATION -> new SpringIntegrationClient(address, leaseTime);
			case SPRING_INTEGRATION_JDBC -> new SpringIntegrationJdbcClient(address, leaseTime);
			case SHEDLOCK_JDBC -> new ShedLockClient(address, leaseTime);
			case CURATOR -> new CuratorClient(address, leaseTime);
		};
	}

}
