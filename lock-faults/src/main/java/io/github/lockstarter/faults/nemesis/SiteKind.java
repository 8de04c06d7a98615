// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

import io.github.lockstarter.faults.worker.ServerAddress.Kind;

/**
 * All kinds of sites.
 */
public enum SiteKind {

	/** One Redis server behind a network. */
	SINGLE(Kind.SINGLE),

	/** One Redis server with a slow network to one of the workers. */
	DISTANT(Kind.SINGLE),

	/** One Redis server whose clock can be set. */
	CLOCK(Kind.SINGLE),

	/** A primary, a replica and a sentinel. */
	SENTINEL(Kind.SENTINEL),

	/** The nodes of a Cluster. */
	CLUSTER(Kind.CLUSTER),

	/**
	 * Three Redis servers that know nothing of each other, one with a clock that can be
	 * set.
	 */
	INDEPENDENT(Kind.INDEPENDENT),

	/** A PostgreSQL server whose clock can be set, behind networks. */
	POSTGRESQL(Kind.POSTGRESQL),

	/** A MariaDB server whose clock can be set, behind networks. */
	MARIADB(Kind.MARIADB),

	/** A ZooKeeper ensemble of three members, behind networks. */
	ZOOKEEPER(Kind.ZOOKEEPER);

	/** The stores other than Redis. */
	static final Set<SiteKind> OTHER_STORES = Collections.unmodifiableSet(EnumSet.of(POSTGRESQL, MARIADB, ZOOKEEPER));

	/** For faults that are the same whatever keeps the locks. */
	static final Set<SiteKind> ONE_OF_EACH_STORE = Collections
		.unmodifiableSet(EnumSet.of(SINGLE, INDEPENDENT, POSTGRESQL, MARIADB, ZOOKEEPER));

	private final Kind deployment;

	SiteKind(Kind deployment) {
		this.deployment = deployment;
	}

	/**
	 * Return the deployment of the servers.
	 */
	public Kind deployment() {
		return this.deployment;
	}

	/**
	 * Return whether all faults can strike such a site on this machine.
	 */
	public boolean isAvailable() {
		return switch (this) {
			case CLOCK, INDEPENDENT -> MovableClock.isAvailableForRedis();
			case POSTGRESQL, MARIADB -> MovableClock.isAvailable();
			default -> true;
		};
	}

	/**
	 * Start a site.
	 */
	public Site start() throws Exception {
		return switch (this) {
			case SINGLE -> new SingleSite();
			case DISTANT -> new DistantSite();
			case CLOCK -> new ClockSite();
			case SENTINEL -> new SentinelSite();
			case CLUSTER -> new ClusterSite();
			case INDEPENDENT -> new IndependentSite();
			case POSTGRESQL, MARIADB -> new DatabaseSite(this.deployment);
			case ZOOKEEPER -> new EnsembleSite();
		};
	}

}
