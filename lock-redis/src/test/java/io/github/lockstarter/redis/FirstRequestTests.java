// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.servers.Network;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Requests that are made before the connection is open.
 */
@Tag("clock")
class FirstRequestTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final Duration LEASE_TIME = Duration.ofSeconds(60);

	private final RedisServer redis = RedisServer.start();

	private final Network network = Network.to(this.redis.port());

	private final OwnerToken owner = OwnerToken.random();

	private final OwnerToken other = OwnerToken.random();

	/** The first connection of a JVM takes much longer than all others. */
	@BeforeEach
	void holdBackAllButTheFirstConnection() {
		LettuceConnectionFactory connections = connections(Duration.ofSeconds(2));
		try (RedisLockStore store = new RedisLockStore(connections, RedisLockSettings.DEFAULTS)) {
			acquire(store, LockKey.of("first"), this.owner).toCompletableFuture()
				.handle((attempt, ex) -> attempt)
				.join();
		}
		connections.destroy();
		this.network.holdBack("HELLO");
	}

	@AfterEach
	void close() {
		this.network.close();
		this.redis.close();
	}

	@Test
	void firstRequestsKeepNoThreadAndTheirOrder() throws Exception {
		LettuceConnectionFactory connections = connections(Duration.ofSeconds(2));
		try (RedisLockStore store = new RedisLockStore(connections, RedisLockSettings.DEFAULTS)) {
			CompletionStage<AcquireResult> first = acquire(store, KEY, this.owner);
			CompletionStage<Boolean> release = store.release(KEY, this.owner);
			CompletionStage<AcquireResult> second = acquire(store, KEY, this.other);
			this.network.awaitHeld();
			assertThat(first.toCompletableFuture()).isNotDone();
			assertThat(second.toCompletableFuture()).isNotDone();
			this.network.letGo();
			assertThat(first.toCompletableFuture().join()).isInstanceOf(AcquireResult.Grant.class);
			assertThat(release.toCompletableFuture().join()).isTrue();
			assertThat(second.toCompletableFuture().join()).isInstanceOf(AcquireResult.Grant.class);
		}
		connections.destroy();
	}

	@Test
	void aRequestThatHasFailedForWantOfTimeIsNotSentLater() throws Exception {
		LettuceConnectionFactory connections = connections(Duration.ofMillis(500));
		try (RedisLockStore store = new RedisLockStore(connections, RedisLockSettings.DEFAULTS)) {
			StoreClient client = new StoreClient(store);
			assertThatIllegalStateException().isThrownBy(() -> client.acquire(KEY, this.owner, LEASE_TIME, false))
				.withMessage("No connection to Redis within 500 ms");
			this.network.letGo();
			// Connecting may take several requests, and a late first one refuses them all
			Awaitility.await()
				.ignoreExceptions()
				.until(() -> client.acquire(KEY, this.other, LEASE_TIME, false) instanceof AcquireResult.Grant);
		}
		connections.destroy();
	}

	@Test
	void aCallWithoutWaitTimeWaitsForTheConnectionThoughItTakesLongerThanACommandMay() {
		LettuceConnectionFactory connections = connections(Duration.ofMillis(500));
		try (RedisLockStore store = new RedisLockStore(connections, RedisLockSettings.DEFAULTS);
				DefaultLockRegistry registry = new DefaultLockRegistry(store)) {
			registry.acquire(LockRequest.of(KEY).withWaitTime(Duration.ZERO)).close();
		}
		connections.destroy();
	}

	private static CompletionStage<AcquireResult> acquire(RedisLockStore store, LockKey key, OwnerToken owner) {
		return store.acquire(new LeaseRequest(key, owner, LEASE_TIME), false);
	}

	private LettuceConnectionFactory connections(Duration timeout) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", this.network.port()),
				LettuceClientConfiguration.builder().commandTimeout(timeout).build());
		connections.start();
		return connections;
	}

}
