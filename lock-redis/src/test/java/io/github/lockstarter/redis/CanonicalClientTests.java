// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.testsupport.EmbeddedRedis;
import io.github.lockstarter.testsupport.RedisSocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

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

	private final EmbeddedRedis redis = EmbeddedRedis.start();

	private final RedisRegistry registry = RedisRegistry.lettuce(this.redis);

	private final RedisSocket client = new RedisSocket(this.redis.port());

	@AfterEach
	void close() {
		this.client.close();
		this.registry.close();
		this.redis.close();
	}

	@Test
	void itsLockExcludesOurs() {
		assertThat(lock("30000")).isEqualTo("OK");
		assertThat(this.registry.tryAcquire(WITHOUT_WAITING)).isEmpty();
		assertThat(unlock()).isEqualTo("1");
		this.registry.acquire(WITHOUT_WAITING).close();
	}

	@Test
	void ourLockExcludesIts() {
		try (Lease lease = this.registry.acquire(REQUEST)) {
			assertThat(lock("30000")).isEqualTo("(nil)");
			assertThat(unlock()).isEqualTo("0");
			lease.ensureHeld();
		}
		Awaitility.await().until(() -> lock("30000").equals("OK"));
	}

	@Test
	void itsLockExcludesOurReaders() {
		assertThat(lock("30000")).isEqualTo("OK");
		assertThat(this.registry.tryAcquire(WITHOUT_WAITING.withMode(LockMode.READ))).isEmpty();
		assertThat(unlock()).isEqualTo("1");
		this.registry.acquire(WITHOUT_WAITING.withMode(LockMode.READ)).close();
	}

	@Test
	void ourReadersExcludeIt() throws Exception {
		try (RedisRegistry other = RedisRegistry.lettuce(this.redis)) {
			Lease first = this.registry.acquire(REQUEST.withMode(LockMode.READ));
			Lease last = other.acquire(REQUEST.withMode(LockMode.READ));
			assertThat(lock("30000")).isEqualTo("(nil)");
			first.close();
			assertThat(lock("30000")).isEqualTo("(nil)");
			assertThat(unlock()).isEqualTo("0");
			last.ensureHeld();
			last.close();
		}
		Awaitility.await().until(() -> lock("30000").equals("OK"));
	}

	@Test
	void theLateReleaseOfOurReaderDoesNotDeleteItsKey() {
		Lease late = this.registry.acquire(REQUEST.withMode(LockMode.READ).withLeaseTime(Duration.ofMillis(50)));
		Awaitility.await().until(() -> lock("30000").equals("OK"));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(late::close);
		assertThat(this.redis.command("GET", REDIS_KEY)).isEqualTo(TOKEN);
		assertThat(this.redis.command("EXISTS", REDIS_KEY + ":readers")).isEqualTo("0");
	}

	@Test
	void itsWrongTokenIsNotTakenForReaders() {
		this.client.command("SET", REDIS_KEY, "shared", "NX", "PX", "30000");
		assertThat(this.registry.tryAcquire(WITHOUT_WAITING.withMode(LockMode.READ))).isEmpty();
	}

	@Test
	void aWaiterOfOursGetsTheLockThatItReleasesWithoutAMessage() throws Exception {
		lock("30000");
		Call<Boolean> waiter = Callers.start(() -> {
			this.registry.acquire(REQUEST).close();
			return true;
		});
		Awaitility.await().until(() -> this.redis.command("EXISTS", REDIS_KEY + ":queue").equals("1"));
		unlock();
		assertThat(waiter.get()).isTrue();
	}

	@Test
	void aWaiterOfOursGetsTheLockThatItLetsExpire() {
		lock("300");
		this.registry.acquire(REQUEST).close();
	}

	@Test
	void ourLateReleaseDoesNotDeleteItsKey() {
		Lease late = this.registry.acquire(REQUEST.withLeaseTime(Duration.ofMillis(50)));
		Awaitility.await().until(() -> lock("30000").equals("OK"));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(late::close);
		assertThat(this.redis.command("GET", REDIS_KEY)).isEqualTo(TOKEN);
		assertThat(unlock()).isEqualTo("1");
	}

	@Test
	void ourRenewalDoesNotExtendItsKey() {
		try (RedisRegistry renewing = RedisRegistry.lettuce(this.redis,
				RedisRegistry.leaseTime(Duration.ofMillis(600)))) {
			Lease lease = renewing.acquire(REQUEST);
			this.redis.command("SET", REDIS_KEY, TOKEN, "PX", "30000");
			Awaitility.await().until(() -> !lease.isHeld());
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
			assertThat(this.redis.command("GET", REDIS_KEY)).isEqualTo(TOKEN);
			assertThat(Long.parseLong(this.redis.command("PTTL", REDIS_KEY))).isGreaterThan(1000);
		}
	}

	private String lock(String leaseMillis) {
		return this.client.command("SET", REDIS_KEY, TOKEN, "NX", "PX", leaseMillis);
	}

	private String unlock() {
		return this.client.command("EVAL", COMPARE_AND_DELETE, "1", REDIS_KEY, TOKEN);
	}

}
