// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.util.List;

import io.github.lockstarter.faults.worker.RedisAddress;
import io.github.lockstarter.faults.worker.RedisAddress.Kind;
import io.github.lockstarter.testsupport.EmbeddedRedis;
import io.github.lockstarter.testsupport.EmbeddedRedisCluster;

/**
 * A cluster of three primaries.
 */
final class ClusterSite implements Site {

	private final EmbeddedRedisCluster cluster = EmbeddedRedisCluster.start();

	@Override
	public RedisAddress address() {
		return new RedisAddress(Kind.CLUSTER, this.cluster.addresses());
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
