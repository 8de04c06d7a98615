// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.redis.RedisVoter;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.UnusableStoreException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The permissions that a Redis user needs on each of the independent servers.
 */
class RedlockRightsTests {

	/** All that a user needs, with locks under the default prefix. */
	private static final List<String> RIGHTS = List.of("~lock:*", "+evalsha", "+eval", "+script|load", "+info", "+get",
			"+set", "+del", "+pexpire", "+pttl");

	private static final String USER = "app";

	private static final String PASSWORD = "secret";

	private static final OwnerToken OWNER = OwnerToken.random();

	private static final LeaseRequest REQUEST = new LeaseRequest(RedlockServers.KEY, OWNER, Duration.ofSeconds(20));

	private static final LeaseRequest OTHER = new LeaseRequest(RedlockServers.KEY, OwnerToken.random(),
			Duration.ofSeconds(20));

	private static final List<Function<RedisVoter, CompletableFuture<?>>> REQUESTS = List.of(
			(server) -> server.acquire(REQUEST, 1), (server) -> server.acquire(OTHER, 2),
			(server) -> server.renew(List.of(REQUEST), 3), (server) -> server.raise(RedlockServers.KEY, OWNER, 4),
			(server) -> server.release(RedlockServers.KEY, OWNER));

	@AutoClose
	private static RedisServer redis;

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

	@Test
	void theseRightsAreEnoughAndEachCommandIsNeeded() {
		allowAllBut("");
		redis.command("CONFIG", "RESETSTAT");
		try (RedisVoter server = voter()) {
			Awaitility.await().ignoreExceptions().until(() -> server.run().join() != null);
			redis.command("SCRIPT", "FLUSH");
			REQUESTS.forEach((request) -> assertThat(request.apply(server)).succeedsWithin(Duration.ofMinutes(1)));
		}
		assertThat(refused()).isEmpty();
		Set<String> called = redis.calls().keySet();
		assertThat(RIGHTS).filteredOn((right) -> right.startsWith("+"))
			.map((right) -> right.substring(1))
			// Redis 6.2 does not name a part of a command
			.allMatch((command) -> called.contains(command) || called.contains(command.replaceAll("\\|.*", "")));
	}

	@Test
	void aMissingRightIsExplainedByTheListOfThisStore() {
		allowAllBut("+info");
		try (RedisVoter server = voter()) {
			Awaitility.await().ignoreExceptions().until(() -> !server.release(RedlockServers.KEY, OWNER).join());
			assertThat(server.acquire(REQUEST, 1)).failsWithin(Duration.ofMinutes(1))
				.withThrowableThat()
				.havingCause()
				.isInstanceOf(UnusableStoreException.class)
				.withMessageContaining("see 'Redlock' in docs/stores.md");
		}
	}

	private static void allowAllBut(String forbidden) {
		List<String> command = new ArrayList<>(
				List.of("ACL", "SETUSER", USER, "reset", "on", '>' + PASSWORD, "resetchannels"));
		RIGHTS.stream().filter((right) -> !right.equals(forbidden)).forEach(command::add);
		assertThat(redis.command(command.toArray(String[]::new))).isEqualTo("OK");
	}

	private static RedisVoter voter() {
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("127.0.0.1", redis.port());
		server.setUsername(USER);
		server.setPassword(PASSWORD);
		return new RedisVoter(new LettuceConnectionFactory(server), "lock:", Duration.ofHours(1),
				Duration.ofSeconds(20));
	}

	/**
	 * Return the refused commands and keys, except the {@code CLIENT} command with which
	 * a driver names itself.
	 */
	private static List<String> refused() {
		List<String> log = redis.command("ACL", "LOG").lines().toList();
		return IntStream.range(1, log.size())
			.filter((i) -> log.get(i - 1).equals("object"))
			.mapToObj(log::get)
			.filter((object) -> !object.equals("client"))
			.toList();
	}

}
