// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.test.SafetyViolation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Owners learn that Redis has lost their lock at the next renewal, and not at the end of
 * their lease; and the next owner has a larger token.
 */
@Tag("clock")
class LostLocksTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private static final String REDIS_KEY = "lock:{stock:1001}";

	@AutoClose
	private final RedisServer redis = RedisServer.start();

	@AutoClose
	private final RedisRegistry registry = RedisRegistry.lettuce(this.redis,
			RedisRegistry.often(Duration.ofSeconds(8)));

	@AutoClose
	private final RedisRegistry next = RedisRegistry.lettuce(this.redis);

	@ParameterizedTest
	@EnumSource
	void aLossIsNoticedByTheNextRenewal(Cause cause) {
		Lease lease = this.registry.acquire(REQUEST);
		cause.strike.accept(this.redis);
		Awaitility.await().until(() -> this.registry.events().stream().anyMatch(LockEvent.Lost.class::isInstance));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureHeld)
			.withMessageContaining("the store no longer knew its owner");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
		this.redis.command("DEL", REDIS_KEY);
		try (Lease later = this.next.acquire(REQUEST)) {
			SafetyViolation.check(later.fencingToken() > lease.fencingToken(), "token %d after %d",
					later.fencingToken(), lease.fencingToken());
		}
	}

	/**
	 * Those behind the first waiter do not ask, and would have no place when they are the
	 * first.
	 */
	@Test
	void fairWaitersStandInALineAgainThatRedisHasForgotten() {
		this.next.awaitConnected(this.redis);
		LockRequest fair = REQUEST.withMode(LockMode.FAIR);
		try (Lease lease = this.registry.acquire(fair)) {
			List<CompletableFuture<Lease>> waiters = Stream.generate(() -> this.next.acquireAsync(fair))
				.limit(5)
				.toList();
			Awaitility.await().until(() -> this.redis.command("ZCARD", REDIS_KEY + ":queue").equals("5"));
			this.redis.command("DEL", REDIS_KEY + ":queue");
			// The next one is the first only now
			waiters.get(0).cancel(false);
			Awaitility.await().until(() -> this.redis.command("ZCARD", REDIS_KEY + ":queue").equals("4"));
			assertThat(waiters.subList(1, 5)).noneMatch(CompletableFuture::isDone);
		}
	}

	@Test
	void aLostLockIsNotKept() {
		Lease lease = this.next.acquire(REQUEST);
		this.redis.command("SET", REDIS_KEY, "somebody-else", "PX", "60000");
		lease.holdAtLeast(Duration.ofHours(1));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close)
			.withMessageContaining("when it should be kept");
		String owner = this.redis.command("GET", REDIS_KEY);
		SafetyViolation.check(owner.equals("somebody-else"), "the lock of somebody else belongs to %s", owner);
	}

	enum Cause {

		FLUSHED((redis) -> redis.command("FLUSHALL")),

		STOLEN((redis) -> redis.command("SET", REDIS_KEY, "somebody-else", "PX", "60000")),

		RESTARTED((redis) -> {
			redis.kill();
			redis.restart();
		});

		private final Consumer<RedisServer> strike;

		Cause(Consumer<RedisServer> strike) {
			this.strike = strike;
		}

	}

}
