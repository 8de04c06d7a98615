// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.testsupport.Callers;
import io.github.lockstarter.testsupport.Callers.Call;
import io.github.lockstarter.testsupport.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Users of Redis that may do little.
 */
class RestrictedUserTests {

	private static final LockRequest REQUEST = LockRequest.of(LockKey.of("stock", 1001));

	/** All that the locks need, as documented in docs/guarantees.md. */
	private static final List<String> MINIMAL_RULES = List.of("~lock:*", "&lock:wake:*", "+evalsha", "+eval", "+get",
			"+set", "+del", "+exists", "+pexpire", "+pttl", "+time", "+zadd", "+zrem", "+zpopmin", "+zrange",
			"+publish", "+subscribe", "+unsubscribe", "+ping");

	@AutoClose
	private final EmbeddedRedis redis = EmbeddedRedis.start();

	@Test
	void theDocumentedRulesAreEnough() throws Exception {
		assertThat(Files.readString(Path.of("../docs/guarantees.md"))).contains(String.join(" ", MINIMAL_RULES));
		createUser(MINIMAL_RULES.stream());
		try (Instance first = new Instance(); Instance second = new Instance()) {
			Lease lease = first.registry.acquire(REQUEST);
			Call<Boolean> waiter = waitFor(second);
			Awaitility.await().until(() -> this.redis.command("EXISTS", "lock:{stock:1001}:queue").equals("1"));
			long published = this.redis.calls("publish");
			lease.close();
			assertThat(waiter.get()).isTrue();
			assertThat(this.redis.calls("publish")).isEqualTo(published + 1);
		}
	}

	@Test
	void withoutSubscribeWaitersAskAgain() throws Exception {
		createUser(MINIMAL_RULES.stream().filter((rule) -> !rule.endsWith("subscribe")));
		try (Instance first = new Instance(); Instance second = new Instance()) {
			Lease lease = first.registry.acquire(REQUEST);
			Call<Boolean> waiter = waitFor(second);
			lease.close();
			assertThat(waiter.get()).isTrue();
			assertThat(this.redis.command("PUBSUB", "CHANNELS")).isEmpty();
		}
	}

	@Test
	void withoutScriptsTheLockIsUnavailableAndTheMessageSaysWhy() {
		createUser(MINIMAL_RULES.stream().filter((rule) -> !rule.startsWith("+eval")));
		try (Instance instance = new Instance()) {
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> instance.registry.acquire(REQUEST))
				.withMessageContaining("The Redis user may not do what the locks need")
				.withStackTraceContaining("evalsha");
		}
	}

	private void createUser(Stream<String> rules) {
		this.redis.command(
				Stream.concat(Stream.of("ACL", "SETUSER", "shop", "on", ">secret", "-@all", "resetchannels"), rules)
					.toArray(String[]::new));
	}

	private static Call<Boolean> waitFor(Instance instance) throws InterruptedException {
		return Callers.start(() -> {
			instance.registry.acquire(REQUEST).close();
			return true;
		}).awaitParked();
	}

	private final class Instance implements AutoCloseable {

		private final LettuceConnectionFactory connections;

		private final RedisLockBackend backend;

		private final DefaultLockRegistry registry;

		Instance() {
			RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("127.0.0.1",
					RestrictedUserTests.this.redis.port());
			server.setUsername("shop");
			server.setPassword("secret");
			this.connections = new LettuceConnectionFactory(server);
			this.backend = new RedisLockBackend(this.connections, "lock:", Duration.ofHours(1));
			this.registry = new DefaultLockRegistry(this.backend, EngineSettings.DEFAULTS, (event) -> {
			});
		}

		@Override
		public void close() {
			this.registry.close();
			this.backend.close();
		}

	}

}
