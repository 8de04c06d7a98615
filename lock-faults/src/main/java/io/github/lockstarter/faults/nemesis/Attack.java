// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;

import io.github.lockstarter.servers.Network;
import io.github.lockstarter.servers.ZooKeeperEnsemble;
import io.github.lockstarter.servers.WorkerJvm;

/**
 * The target of a strike.
 *
 * @param site the servers
 * @param crew the workers
 * @param keys the locks in use, as the competitor names them in Redis
 * @param random chooses among the targets
 */
public record Attack(Site site, Crew crew, List<String> keys, Random random) {

	RedisSite redis() {
		return (RedisSite) this.site;
	}

	IndependentSite independent() {
		return (IndependentSite) this.site;
	}

	ServerSite servers() {
		return (ServerSite) this.site;
	}

	DatabaseSite database() {
		return (DatabaseSite) this.site;
	}

	ZooKeeperEnsemble ensemble() {
		return ((EnsembleSite) this.site).ensemble();
	}

	/**
	 * Return the networks of all workers.
	 */
	Set<Network> networks() {
		Set<Network> networks = new LinkedHashSet<>();
		for (int worker = 0; worker < Crew.SIZE; worker++) {
			networks.addAll(this.site.networks(worker));
		}
		return networks;
	}

	/**
	 * Disturb networks for some time.
	 */
	void disturb(Collection<Network> networks, Consumer<Network> disturbance, Duration duration)
			throws InterruptedException {
		networks.forEach(disturbance);
		last(duration);
		networks.forEach((network) -> {
			network.delay(Duration.ZERO);
			network.heal();
		});
	}

	WorkerJvm anyWorker() {
		List<WorkerJvm> workers = this.crew.workers();
		return workers.get(this.random.nextInt(workers.size()));
	}

	/**
	 * Return a part of the lease time.
	 */
	Duration leases(double factor) {
		return Duration.ofNanos((long) (this.crew.leaseTime().toNanos() * factor));
	}

	/**
	 * Return a time in which leases and requests end.
	 */
	Duration longerThanLease() {
		return leases(1.2).plusSeconds(2);
	}

	/**
	 * Let the fault last for some time.
	 */
	void last(Duration duration) throws InterruptedException {
		Thread.sleep(duration.toMillis());
	}

	/**
	 * Do harm several times within a lease.
	 */
	void repeat(Runnable harm) throws InterruptedException {
		for (int i = 0; i < 7; i++) {
			harm.run();
			last(leases(0.13));
		}
	}

}
