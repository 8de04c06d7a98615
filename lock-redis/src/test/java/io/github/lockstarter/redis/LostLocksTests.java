// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.testsupport.EmbeddedRedis;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Owners learn that Redis has lost their lock at the next renewal, and not at the end of
 * their lease; and the next owner has a larger token.
 */
class LostLocksTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private static final String REDIS_KEY = "lock:{stock:1001}";

	@AutoClose
	private final EmbeddedRedis redis = EmbeddedRedis.start();

	@AutoClose
	private final RedisRegistry registry = RedisRegistry.lettuce(this.redis,
			RedisRegistry.often(Duration.ofSeconds(15)));

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
		this.redis.command("DEL", REDIS_KEY);
		try (Lease later = this.next.acquire(REQUEST)) {
			assertThat(later.fencingToken()).isGreaterThan(lease.fencingToken());
		}
	}

	@ParameterizedTest
	@EnumSource
	@FullProfileOnly
	void aLossOfAFixedLeaseIsNoticedAsSoon(LockMode mode) {
		LockRequest request = REQUEST.withMode(mode).withLeaseTime(Duration.ofMinutes(5));
		Lease lease = this.registry.acquire(request);
		AtomicBoolean notified = new AtomicBoolean();
		lease.onLost((loss) -> notified.set(true));
		this.redis.command("FLUSHALL");
		try (Lease later = this.next.acquire(REQUEST)) {
			Awaitility.await().untilTrue(notified);
			assertThat(lease.isHeld()).isFalse();
			assertThat(later.isHeld()).isTrue();
			assertThat(later.fencingToken()).isGreaterThan(lease.fencingToken());
		}
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close)
			.withMessageContaining("the store no longer knew its owner");
	}

	enum Cause {

		FLUSHED((redis) -> redis.command("FLUSHALL")),

		DELETED((redis) -> redis.command("DEL", REDIS_KEY)),

		STOLEN((redis) -> redis.command("SET", REDIS_KEY, "somebody-else", "PX", "60000")),

		RESTARTED((redis) -> {
			redis.kill();
			redis.restart();
		}),

		EVICTED((redis) -> {
			redis.command("CONFIG", "SET", "maxmemory-policy", "allkeys-random");
			redis.command("CONFIG", "SET", "maxmemory", "1");
			// Any command makes room first
			redis.command("PING");
			redis.command("CONFIG", "SET", "maxmemory", "0");
		});

		private final Consumer<EmbeddedRedis> strike;

		Cause(Consumer<EmbeddedRedis> strike) {
			this.strike = strike;
		}

	}

}
