// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import io.github.lockstarter.faults.worker.RedisAddress.Kind;

/**
 * All kinds of sites.
 */
public final class Sites {

	private Sites() {
	}

	/**
	 * Start a site.
	 */
	public static Site start(Kind kind) throws InterruptedException {
		return switch (kind) {
			case SINGLE -> new SingleSite();
			case SENTINEL -> new SentinelSite();
			case CLUSTER -> new ClusterSite();
		};
	}

}
