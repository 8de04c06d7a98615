// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.servers.SharedServers.RedisDatabase;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A program in another language that locks according to the Redis documentation.
 */
class CanonicalClientTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private static final LockRequest WITHOUT_WAITING = REQUEST.withWaitTime(Duration.ZERO);

	private static final String REDIS_KEY = "lock:{stock:1001}";

	private static final String TOKEN = "token-of-the-other-program";

	private static final String COMPARE_AND_DELETE = """
			if redis.call("get",KEYS[1]) == ARGV[1] then
			    return redis.call("del",KEYS[1])
			else
			    return 0
			end""";

	private static final RedisDatabase redis = SharedServers.redis();

	@AutoClose
	private final RedisRegistry registry = RedisRegistry.lettuce(redis);

	@BeforeEach
	void connect() {
		redis.command("FLUSHDB");
		this.registry.acquire(LockRequest.of("connected", 1)).close();
	}

	@Test
	void itsLockExcludesOurs() {
		assertThat(lock()).isEqualTo("OK");
		assertThat(this.registry.tryAcquire(WITHOUT_WAITING)).isEmpty();
		assertThat(unlock()).isEqualTo("1");
		this.registry.acquire(WITHOUT_WAITING).close();
	}

	@Test
	void ourLockExcludesIts() {
		try (Lease lease = this.registry.acquire(REQUEST)) {
			assertThat(lock()).isEqualTo("(nil)");
			assertThat(unlock()).isEqualTo("0");
			lease.ensureHeld();
		}
		Awaitility.await().until(() -> lock().equals("OK"));
	}

	@Test
	void itsLockExcludesOurReaders() {
		assertThat(lock()).isEqualTo("OK");
		assertThat(this.registry.tryAcquire(WITHOUT_WAITING.withMode(LockMode.READ))).isEmpty();
		assertThat(unlock()).isEqualTo("1");
		this.registry.acquire(WITHOUT_WAITING.withMode(LockMode.READ)).close();
	}

	@Test
	void ourReadersExcludeIt() throws Exception {
		try (RedisRegistry other = RedisRegistry.lettuce(redis)) {
			Lease first = this.registry.acquire(REQUEST.withMode(LockMode.READ));
			Lease last = other.acquire(REQUEST.withMode(LockMode.READ));
			assertThat(lock()).isEqualTo("(nil)");
			first.close();
			assertThat(lock()).isEqualTo("(nil)");
			assertThat(unlock()).isEqualTo("0");
			last.ensureHeld();
			last.close();
		}
		Awaitility.await().until(() -> lock().equals("OK"));
	}

	@ParameterizedTest
	@EnumSource(names = { "READ", "EXCLUSIVE" })
	void ourLateReleaseDoesNotDeleteItsKey(LockMode mode) {
		Lease late = this.registry.acquire(REQUEST.withMode(mode));
		redis.command("DEL", REDIS_KEY);
		assertThat(lock()).isEqualTo("OK");
		try {
			late.close();
		}
		catch (LockLostException ex) {
			// The answer to the release came soon enough
		}
		Awaitility.await().until(() -> this.registry.events().stream().anyMatch(LockEvent.Lost.class::isInstance));
		assertThat(redis.command("GET", REDIS_KEY)).isEqualTo(TOKEN);
		assertThat(unlock()).isEqualTo("1");
	}

	@Test
	@Tag("clock")
	void aWaiterOfOursGetsTheLockThatItReleasesWithoutAMessage() throws Exception {
		lock();
		try (RedisRegistry waiting = RedisRegistry.lettuce(redis, RedisRegistry.pollInterval(Duration.ofMillis(100)))) {
			Call<Boolean> waiter = Callers.start(() -> {
				waiting.acquire(REQUEST).close();
				return true;
			});
			Awaitility.await().until(() -> redis.command("EXISTS", REDIS_KEY + ":queue").equals("1"));
			unlock();
			assertThat(waiter.get()).isTrue();
		}
	}

	@Test
	@Tag("clock")
	void aWaiterOfOursGetsTheLockThatItLetsExpireThoughItDoesNotPoll() throws Exception {
		lock();
		redis.command("PEXPIRE", REDIS_KEY, "1000");
		try (RedisRegistry waiting = RedisRegistry.lettuce(redis, RedisRegistry.withoutPolling())) {
			Call<Lease> waiter = Callers.start(() -> waiting.acquire(REQUEST));
			Awaitility.await().until(() -> waiter.result().isDone());
			waiter.get().close();
		}
	}

	private String lock() {
		return redis.command("SET", REDIS_KEY, TOKEN, "NX", "PX", "600000");
	}

	private String unlock() {
		return redis.command("EVAL", COMPARE_AND_DELETE, "1", REDIS_KEY, TOKEN);
	}

}
