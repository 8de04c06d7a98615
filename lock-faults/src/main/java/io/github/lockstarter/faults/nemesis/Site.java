// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.util.List;
import java.util.stream.Stream;

import io.github.lockstarter.faults.worker.RedisAddress;
import io.github.lockstarter.testsupport.EmbeddedRedis;

/**
 * The Redis that the workers use.
 */
public interface Site extends AutoCloseable {

	/**
	 * Return where the workers find it.
	 */
	RedisAddress address();

	/**
	 * Return where one of the workers finds it.
	 * @param worker number of the worker, from 0
	 */
	default RedisAddress address(int worker) {
		return address();
	}

	/**
	 * Return the servers that keep data.
	 */
	List<EmbeddedRedis> servers();

	/**
	 * Return the network in front of the server, if there is only one server.
	 */
	default TcpProxy network() {
		throw new UnsupportedOperationException(address().kind() + " has no network of its own");
	}

	/**
	 * Return the keys of all servers.
	 */
	default List<String> keys() {
		return servers().stream()
			.flatMap((server) -> server.command("KEYS", "*").lines())
			.filter((key) -> !key.isEmpty())
			.toList();
	}

	/**
	 * Return how many scripts all servers have run.
	 */
	default long scripts() {
		return servers().stream().mapToLong((server) -> server.calls("evalsha") + server.calls("eval")).sum();
	}

	/**
	 * Return the channels that somebody listens to.
	 */
	default Stream<String> channels() {
		return servers().stream()
			.flatMap((server) -> server.command("PUBSUB", "CHANNELS").lines())
			.filter((channel) -> !channel.isEmpty() && !channel.startsWith("__"));
	}

	@Override
	void close();

}
