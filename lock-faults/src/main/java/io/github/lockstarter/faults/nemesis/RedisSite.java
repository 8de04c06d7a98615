// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.util.List;
import java.util.stream.Stream;

import io.github.lockstarter.servers.RedisServer;

/**
 * The Redis servers that the workers use.
 */
interface RedisSite extends Site {

	/**
	 * Return the servers that keep data.
	 */
	List<RedisServer> servers();

	/**
	 * Send a command to all servers.
	 */
	default void toAll(String... command) {
		servers().forEach((server) -> server.command(command));
	}

	/**
	 * Return the keys of all servers.
	 */
	@Override
	default List<String> keys() {
		return servers().stream()
			.flatMap((server) -> server.command("KEYS", "*").lines())
			.filter((key) -> !key.isEmpty())
			.toList();
	}

	@Override
	default long scripts() {
		return servers().stream().mapToLong((server) -> server.calls("evalsha") + server.calls("eval")).sum();
	}

	@Override
	default Stream<String> channels() {
		return servers().stream()
			.flatMap((server) -> server.command("PUBSUB", "CHANNELS").lines())
			.filter((channel) -> !channel.isEmpty() && !channel.startsWith("__"));
	}

}
