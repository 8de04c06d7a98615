// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.util.List;

import io.github.lockstarter.faults.worker.ServerAddress;
import io.github.lockstarter.faults.worker.ServerAddress.Kind;
import io.github.lockstarter.servers.RedisCluster;
import io.github.lockstarter.servers.RedisServer;

/**
 * A cluster of three primaries.
 */
final class ClusterSite implements RedisSite {

	private final RedisCluster cluster = RedisCluster.start();

	@Override
	public ServerAddress address(int worker) {
		return new ServerAddress(Kind.CLUSTER, this.cluster.addresses());
	}

	@Override
	public List<RedisServer> servers() {
		return this.cluster.nodes();
	}

	RedisCluster cluster() {
		return this.cluster;
	}

	@Override
	public void close() {
		this.cluster.close();
	}

}
