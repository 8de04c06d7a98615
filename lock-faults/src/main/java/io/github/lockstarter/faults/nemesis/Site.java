// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.util.List;
import java.util.stream.Stream;

import io.github.lockstarter.faults.worker.RedisAddress;
import io.github.lockstarter.testsupport.EmbeddedRedis;

/**
 * The Redis servers that the workers use.
 */
public interface Site extends AutoCloseable {

	/**
	 * Return the address for the workers.
	 */
	RedisAddress address();

	/**
	 * Return the address for one of the workers.
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
	 * Return the network in front of a single server.
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
	 * Return the number of scripts that all servers have run.
	 */
	default long scripts() {
		return servers().stream().mapToLong((server) -> server.calls("evalsha") + server.calls("eval")).sum();
	}

	/**
	 * Return the channels with subscribers.
	 */
	default Stream<String> channels() {
		return servers().stream()
			.flatMap((server) -> server.command("PUBSUB", "CHANNELS").lines())
			.filter((channel) -> !channel.isEmpty() && !channel.startsWith("__"));
	}

	@Override
	void close();

}
