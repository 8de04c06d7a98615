// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import io.github.lockstarter.faults.worker.Mode;
import io.github.lockstarter.servers.RedisCluster;
import io.github.lockstarter.servers.RedisServer;

/**
 * Faults of Redis servers that belong together: a primary and its replica, or the nodes
 * of a Cluster.
 */
public enum RedisNodesFault implements Fault {

	/** The replica may lack the last writes. */
	FAILOVER(ofReplica("Sentinel failover after the primary was killed", (attack) -> {
		attack.redis().servers().get(0).kill();
		sentinels(attack).exchange();
	})),

	/** The replica certainly lacks the last writes. */
	FAILOVER_UNREPLICATED(ofReplica("the same while the replica lagged behind", (attack) -> {
		sentinels(attack).replica().pause();
		attack.last(attack.leases(0.3));
		attack.redis().servers().get(0).kill();
		sentinels(attack).replica().resume();
		sentinels(attack).exchange();
	})),

	/**
	 * For some seconds, the old primary accepts writes and keeps its connections, while a
	 * new instance connects to the new one.
	 */
	FAILOVER_PLANNED(ofReplica("planned Sentinel failover while an instance is replaced", (attack) -> {
		sentinels(attack).promote();
		attack.crew().replace(attack.anyWorker());
		sentinels(attack).awaitReplica();
	}).with(Mode.LINGERING)),

	/** Requests are redirected, and scripts find only some of their keys on a node. */
	SLOTS_MOVED(ofCluster("Cluster slots moved to other nodes", (attack) -> {
		for (int i = 0; i < 3; i++) {
			for (String key : attack.keys()) {
				cluster(attack).moveSlotOf(key, () -> LockSupport.parkNanos(20_000_000));
			}
		}
	})),

	/** The new primary has all data. */
	NODE_FAILED_OVER(ofCluster("manual failover of a Cluster node, and back",
			(attack) -> cluster(attack).failOver(attack.keys().get(0),
					() -> LockSupport.parkNanos(attack.leases(1.5).toNanos())))),

	/** The locks of the other nodes must not be affected. */
	NODE_PAUSED(ofCluster("Cluster node paused for longer than lease and time-outs (SIGSTOP)",
			(attack) -> pause(attack, usedNode(attack), attack.longerThanLease()))),

	/**
	 * No holder has a lock on that node, but many callers request locks there and give
	 * up.
	 */
	NODE_SILENT(ofCluster("Cluster node silent while callers give up on it (SIGSTOP)",
			(attack) -> pause(attack, unusedNode(attack), attack.leases(3).plusSeconds(2)))
		.with(Mode.CROWDED)),

	/** The data of the node is lost. */
	NODE_RESTARTED(ofCluster("Cluster node killed and started again empty", (attack) -> {
		RedisServer node = usedNode(attack);
		node.kill();
		attack.last(attack.leases(0.2));
		node.restart();
	}).with(Exclusion.UNTIL_NOTICED));

	private final Nature nature;

	RedisNodesFault(Nature nature) {
		this.nature = nature;
	}

	@Override
	public Nature nature() {
		return this.nature;
	}

	private static Nature ofReplica(String title, Strike strike) {
		return Nature.of(title, EnumSet.of(SiteKind.SENTINEL), strike).with(Exclusion.UNLESS_CONFIRMED);
	}

	private static Nature ofCluster(String title, Strike strike) {
		return Nature.of(title, EnumSet.of(SiteKind.CLUSTER), strike);
	}

	private static SentinelSite sentinels(Attack attack) {
		return (SentinelSite) attack.site();
	}

	private static RedisCluster cluster(Attack attack) {
		return ((ClusterSite) attack.site()).cluster();
	}

	private static RedisServer usedNode(Attack attack) {
		return cluster(attack).nodeOf(attack.keys().get(0));
	}

	/**
	 * Return a node of the cluster that keeps none of the locks.
	 */
	private static RedisServer unusedNode(Attack attack) {
		List<RedisServer> used = attack.keys().stream().map(cluster(attack)::nodeOf).toList();
		return cluster(attack).nodes().stream().filter((node) -> !used.contains(node)).findFirst().orElseThrow();
	}

	private static void pause(Attack attack, RedisServer server, Duration duration) throws Exception {
		server.pause();
		attack.last(duration);
		server.resume();
	}

}
