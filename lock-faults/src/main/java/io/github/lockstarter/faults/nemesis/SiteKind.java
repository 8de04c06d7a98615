// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

/**
 * All kinds of sites.
 */
public enum SiteKind {

	/** One server behind a network. */
	SINGLE,

	/** One server with a slow network to one of the workers. */
	DISTANT,

	/** One server whose clock can be set. */
	CLOCK,

	/** A primary, a replica and a sentinel. */
	SENTINEL,

	/** The nodes of a Cluster. */
	CLUSTER;

	/**
	 * Return whether this machine can run such a site.
	 */
	public boolean isAvailable() {
		return this != CLOCK || MovableClock.isAvailable();
	}

	/**
	 * Start a site.
	 */
	public Site start() throws InterruptedException {
		return switch (this) {
			case SINGLE -> new SingleSite();
			case DISTANT -> new DistantSite();
			case CLOCK -> new ClockSite();
			case SENTINEL -> new SentinelSite();
			case CLUSTER -> new ClusterSite();
		};
	}

}
