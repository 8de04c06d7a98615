// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.util.List;
import java.util.stream.Stream;

import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

import io.github.lockstarter.benchmarks.servers.ServerKind;

/**
 * All competitors.
 */
public final class Competitors {

	/** The system property with versions of our lock: {@code name=classpath;…}. */
	public static final String VERSIONS = "benchmark.versions";

	/** The name of the lock of this project. */
	public static final String OURS = "ours";

	/** The name of the lock of Redisson. */
	public static final String REDISSON = new RedissonLock().name();

	/** The name of the minimal lock on Redis. */
	public static final String FLOOR = new FloorLock().name();

	/** The name of the upper bound within one JVM. */
	public static final String FAIR_LOCK = new FairLock().name();

	/** The name of the run without a lock. */
	public static final String NO_LOCK = new NoLock().name();

	/** The name of the lock of a database itself. */
	public static final String ROW_LOCK = new RowLock().name();

	/** The name of the transaction under a lock that does not fence it. */
	public static final String LOCKED_SALE = SaleTransaction.LOCKED.name();

	private static final List<Competitor> KNOWN = List.of(OurLock.withDefaults(OURS),
			OurLock.varied("ours, release awaited", ServerKind.REDIS),
			OurLock.varied("ours, grants not durable", ServerKind.POSTGRESQL), new RedissonLock(),
			new SpringIntegrationLock("Spring Integration, spin", RedisLockType.SPIN_LOCK),
			new SpringIntegrationLock("Spring Integration, pub/sub", RedisLockType.PUB_SUB_LOCK), new Lock4jLock(),
			new SleepingLock(), new FloorLock(), new RedissonRedlock(), new SpringIntegrationJdbcLock(),
			new ShedLockJdbcLock(), new RowLock(), new CuratorLock(), new FairLock(), new NoLock());

	private static final List<Competitor> ALL = Stream
		.of(KNOWN, SaleTransaction.all(), VersionLock.parse(System.getProperty(VERSIONS, "")))
		.flatMap(List::stream)
		.toList();

	private Competitors() {
	}

	/**
	 * Return all competitors, including the versions of our lock that {@value #VERSIONS}
	 * names.
	 */
	public static List<Competitor> all() {
		return ALL;
	}

	/**
	 * Return the name of the lock with which others are compared on a kind of server.
	 */
	public static String peerOn(ServerKind server) {
		return switch (server) {
			case REDIS -> REDISSON;
			case REDLOCK -> new RedissonRedlock().name();
			case POSTGRESQL, MARIADB, H2 -> new SpringIntegrationJdbcLock().name();
			case ZOOKEEPER, ZOOKEEPER_ENSEMBLE -> new CuratorLock().name();
		};
	}

	public static Competitor named(String name) {
		return ALL.stream()
			.filter((competitor) -> competitor.name().equals(name))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException("No competitor is named '" + name + "'"));
	}

}
