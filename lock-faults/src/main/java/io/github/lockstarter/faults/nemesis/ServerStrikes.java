// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

import io.github.lockstarter.servers.Network;
import io.github.lockstarter.servers.RedisServer;

/**
 * What happens to some of several independent servers, or to the networks in front of
 * them.
 */
final class ServerStrikes {

	private ServerStrikes() {
	}

	static void killOne(Attack attack) throws Exception {
		kill(any(attack, 1), attack, attack.longerThanLease());
		awaitVotes(attack);
	}

	static void killTwo(Attack attack) throws Exception {
		kill(any(attack, 2), attack, attack.longerThanLease());
	}

	static void restartTwo(Attack attack) throws Exception {
		kill(any(attack, 2), attack, attack.leases(0.2));
	}

	static void flushTwo(Attack attack) {
		any(attack, 2).forEach((server) -> server.command("FLUSHALL"));
	}

	/**
	 * Each server has a vote, and the locks of their owners, before the next one is
	 * killed.
	 */
	static void restartEach(Attack attack) throws Exception {
		for (RedisServer server : any(attack, attack.redis().servers().size())) {
			kill(List.of(server), attack, attack.leases(0.2));
			awaitVotes(attack);
		}
	}

	/**
	 * Wait until a server that was just started has a vote, so that the next fault, which
	 * may take another server away, leaves a majority. Servers count whole seconds, and
	 * need a while to start.
	 */
	private static void awaitVotes(Attack attack) throws Exception {
		attack.last(attack.leases(1).plusSeconds(3));
	}

	private static void kill(List<RedisServer> servers, Attack attack, Duration duration) throws Exception {
		servers.forEach(RedisServer::kill);
		attack.last(duration);
		servers.forEach(RedisServer::restart);
	}

	static void pauseOne(Attack attack) throws Exception {
		pause(any(attack, 1), attack);
	}

	static void pauseTwo(Attack attack) throws Exception {
		pause(any(attack, 2), attack);
	}

	private static void pause(List<RedisServer> servers, Attack attack) throws Exception {
		servers.forEach(RedisServer::pause);
		attack.last(attack.longerThanLease());
		servers.forEach(RedisServer::resume);
	}

	/**
	 * Set the clock of one server seven times.
	 * @param leases how far to set it forward each time, or back if negative
	 */
	static void moveClock(Attack attack, double leases) throws Exception {
		attack.repeat(() -> attack.independent().clock().move(attack.leases(leases)));
	}

	/**
	 * Cut off each worker from another server.
	 */
	static void partition(Attack attack, Consumer<Network> disturbance) throws InterruptedException {
		List<Network> networks = new ArrayList<>();
		for (int i = 0; i < Crew.SIZE; i++) {
			networks.add(attack.independent().network(i, i));
		}
		attack.disturb(networks, disturbance, attack.longerThanLease());
	}

	/**
	 * Cut off one worker from two servers.
	 */
	static void isolate(Attack attack) throws Exception {
		IndependentSite site = attack.independent();
		int worker = attack.random().nextInt(Crew.SIZE);
		attack.disturb(List.of(site.network(worker, 0), site.network(worker, 1)), Network::cut,
				attack.longerThanLease());
	}

	private static List<RedisServer> any(Attack attack, int number) {
		List<RedisServer> servers = new ArrayList<>(attack.redis().servers());
		Collections.shuffle(servers, attack.random());
		return servers.subList(0, number);
	}

}
