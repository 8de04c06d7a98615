// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import io.github.lockstarter.servers.RedisCluster;

/**
 * Starts the cluster while the first tests run that need none: its servers accept no
 * writes for two seconds.
 */
public final class ClusterAhead implements BeforeAllCallback {

	@Override
	public void beforeAll(ExtensionContext context) {
		started();
	}

	/**
	 * Return the only cluster, which its first user closes.
	 */
	static CompletableFuture<RedisCluster> started() {
		return Holder.CLUSTER;
	}

	private static final class Holder {

		static final CompletableFuture<RedisCluster> CLUSTER = CompletableFuture.supplyAsync(RedisCluster::start);

	}

}
