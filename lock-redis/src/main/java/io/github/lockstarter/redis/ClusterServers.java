// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The nodes of a cluster and their slots, as last seen through Spring Data Redis. A
 * driver looks them up by a round trip, possibly to a node that does not answer, so they
 * are cached here.
 */
final class ClusterServers {

	private final RedisConnectionFactory connections;

	/** Empty until the first look-up. */
	private volatile @Nullable Object[] nodesOfSlots = new @Nullable Object[0];

	ClusterServers(RedisConnectionFactory connections) {
		this.connections = connections;
	}

	/**
	 * Return an object that stands for the node of a key: its slot while the node is not
	 * known.
	 */
	Object of(byte[] key) {
		int slot = ClusterSlotHashUtil.calculateSlot(key);
		@Nullable Object[] nodes = this.nodesOfSlots;
		Object node = (slot < nodes.length) ? nodes[slot] : null;
		return (node != null) ? node : slot;
	}

	/**
	 * Look up the nodes, on a thread that may block.
	 */
	void lookUp() {
		@Nullable Object[] nodes = new @Nullable Object[ClusterSlotHashUtil.SLOT_COUNT];
		try (RedisClusterConnection connection = this.connections.getClusterConnection()) {
			for (RedisClusterNode node : connection.clusterGetNodes()) {
				for (int slot : node.getSlotRange().getSlotsArray()) {
					nodes[slot] = Objects.requireNonNull(node.getId());
				}
			}
		}
		this.nodesOfSlots = nodes;
	}

}
