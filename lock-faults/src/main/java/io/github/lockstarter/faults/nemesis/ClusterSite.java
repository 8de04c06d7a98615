// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.util.List;

import io.github.lockstarter.faults.worker.ServerAddress;
import io.github.lockstarter.faults.worker.ServerAddress.Kind;
import io.github.lockstarter.testsupport.EmbeddedRedis;
import io.github.lockstarter.testsupport.EmbeddedRedisCluster;

/**
 * A cluster of three primaries.
 */
final class ClusterSite implements RedisSite {

	private final EmbeddedRedisCluster cluster = EmbeddedRedisCluster.start();

	@Override
	public ServerAddress address(int worker) {
		return new ServerAddress(Kind.CLUSTER, this.cluster.addresses());
	}

	@Override
	public List<EmbeddedRedis> servers() {
		return this.cluster.nodes();
	}

	EmbeddedRedisCluster cluster() {
		return this.cluster;
	}

	@Override
	public void close() {
		this.cluster.close();
	}

}
