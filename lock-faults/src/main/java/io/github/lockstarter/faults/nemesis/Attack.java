// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.time.Duration;
import java.util.List;
import java.util.Random;

import io.github.lockstarter.testsupport.EmbeddedRedis;
import io.github.lockstarter.testsupport.EmbeddedRedisCluster;

/**
 * The target of a strike.
 *
 * @param site the servers
 * @param crew the workers
 * @param keys the locks in use, as the competitor names them in Redis
 * @param random chooses among the targets
 */
public record Attack(Site site, Crew crew, List<String> keys, Random random) {

	EmbeddedRedis server() {
		return this.site.servers().get(0);
	}

	MovableClock clock() {
		return ((ClockSite) this.site).clock();
	}

	SentinelSite sentinels() {
		return (SentinelSite) this.site;
	}

	EmbeddedRedisCluster cluster() {
		return ((ClusterSite) this.site).cluster();
	}

	/**
	 * Return a node of the cluster that keeps none of the locks.
	 */
	EmbeddedRedis unusedNode() {
		List<EmbeddedRedis> used = this.keys.stream().map(cluster()::nodeOf).toList();
		return cluster().nodes().stream().filter((node) -> !used.contains(node)).findFirst().orElseThrow();
	}

	WorkerProcess anyWorker() {
		List<WorkerProcess> workers = this.crew.workers();
		return workers.get(this.random.nextInt(workers.size()));
	}

	/**
	 * Return a part of the lease time.
	 */
	Duration leases(double factor) {
		return Duration.ofNanos((long) (this.crew.leaseTime().toNanos() * factor));
	}

	/**
	 * Let the fault last for some time.
	 */
	void last(Duration duration) throws InterruptedException {
		Thread.sleep(duration.toMillis());
	}

	/**
	 * Send a command to all servers.
	 */
	void toAll(String... command) {
		this.site.servers().forEach((server) -> server.command(command));
	}

}
