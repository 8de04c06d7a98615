// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import io.github.lockstarter.servers.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A Redis server with a user that has the rights that a store needs.
 */
public abstract class AbstractRightsTests {

	protected static final String USER = "app";

	protected static final String PASSWORD = "secret";

	@AutoClose
	protected static RedisServer redis;

	@BeforeAll
	static void start() {
		redis = RedisServer.start();
	}

	@BeforeEach
	void reset() {
		redis.command("FLUSHALL");
		redis.command("SCRIPT", "FLUSH");
		redis.command("ACL", "LOG", "RESET");
	}

	/** Redis 6.2 allows all channels by default. */
	protected static void allow(List<String> rights, String... forbidden) {
		List<String> command = new ArrayList<>(
				List.of("ACL", "SETUSER", USER, "reset", "on", '>' + PASSWORD, "resetchannels"));
		command.addAll(rights);
		command.removeAll(List.of(forbidden));
		assertThat(redis.command(command.toArray(String[]::new))).isEqualTo("OK");
	}

	protected static RedisStandaloneConfiguration ofUser() {
		RedisStandaloneConfiguration server = RedisRegistry.server(redis.port());
		server.setUsername(USER);
		server.setPassword(PASSWORD);
		return server;
	}

	/**
	 * Check that nothing was refused, and each command was called.
	 */
	protected static void assertEnoughAndNeeded(List<String> rights) {
		assertNothingRefused();
		Set<String> called = redis.calls().keySet();
		assertThat(rights).filteredOn((right) -> right.startsWith("+"))
			.map((right) -> right.substring(1))
			// Redis 6.2 does not name a part of a command
			.allMatch((command) -> called.contains(command) || called.contains(command.replaceAll("\\|.*", "")));
	}

	/**
	 * Check that nothing was refused, except the {@code CLIENT} command with which a
	 * driver names itself, because its refusal does no harm.
	 */
	protected static void assertNothingRefused() {
		List<String> log = redis.command("ACL", "LOG").lines().toList();
		assertThat(IntStream.range(1, log.size()).filter((i) -> log.get(i - 1).equals("object")).mapToObj(log::get))
			.allMatch("client"::equals);
	}

}
