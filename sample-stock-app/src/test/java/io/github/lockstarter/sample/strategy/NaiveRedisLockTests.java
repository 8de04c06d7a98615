// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.lockstarter.sample.AbstractShopTests;
import io.github.lockstarter.sample.stock.StockRepository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Each naive lock fails in its own way, in an order of events that is forced on it.
 */
class NaiveRedisLockTests extends AbstractShopTests {

	private static final long PRODUCT = 1001;

	private static final String KEY = "tested";

	private static final Duration LEASE_TIME = Duration.ofSeconds(10);

	@Autowired
	private StringRedisTemplate redis;

	@Autowired
	private LettuceConnectionFactory connections;

	@Autowired
	private NoLock sale;

	@BeforeEach
	void stock(@Autowired StockRepository stocks) {
		stocks.reset(PRODUCT, 5);
		this.redis.delete(KEY);
	}

	@ParameterizedTest
	@CsvSource({ "redis-constant-value, true", "redis-setnx-expire, true", "redis-lua, false" })
	void aLateOwnerFreesTheLockOfTheNextUnlessItLooksAtItsValue(String name, boolean freed,
			@Autowired Map<String, NaiveRedisLock> locks) {
		NaiveRedisLock lock = locks.get(name);
		assertThat(lock.tryLock(KEY, "first")).isTrue();
		takeOver(lock);
		lock.unlock(KEY, "first");
		assertThat(lock.tryLock(KEY, "third")).isEqualTo(freed);
	}

	@Test
	void aKeyMayChangeBetweenTheLookAndTheDeletion(@Autowired GetThenDelete lock) {
		StringRedisTemplate between = new StringRedisTemplate(this.connections) {

			@Override
			public Boolean delete(String key) {
				takeOver(lock);
				return super.delete(key);
			}

		};
		GetThenDelete late = new GetThenDelete(between, this.sale, LEASE_TIME);
		assertThat(late.tryLock(KEY, "first")).isTrue();
		late.unlock(KEY, "first");
		assertThat(lock.tryLock(KEY, "third")).isTrue();
	}

	/** The key expires, and the next owner comes. */
	private void takeOver(NaiveRedisLock lock) {
		this.redis.expire(KEY, Duration.ZERO);
		assertThat(lock.tryLock(KEY, "second")).isTrue();
	}

	@Test
	void aSeparateExpiryLocksForEverIfNothingFollows(@Autowired SetThenExpire lock) {
		command("ACL", "SETUSER", "default", "-expire", "-pexpire");
		try {
			assertThatException().isThrownBy(() -> lock.deduct(PRODUCT, 1));
		}
		finally {
			command("ACL", "SETUSER", "default", "+expire", "+pexpire");
		}
		String key = "redis-setnx-expire:" + PRODUCT;
		assertThat(this.redis.getExpire(key)).as("no end").isEqualTo(-1);
		assertThat(lock.tryLock(key, "next")).isFalse();
		this.redis.delete(key);
	}

	private void command(String command, String... arguments) {
		try (RedisConnection connection = this.connections.getConnection()) {
			connection.execute(command, Stream.of(arguments).map(String::getBytes).toArray(byte[][]::new));
		}
	}

	@Test
	void recursionOverflowsTheStack() {
		RecursiveRetry lock = new RecursiveRetry(this.redis, this.sale, LEASE_TIME) {

			@Override
			boolean tryLock(String key, String owner) {
				return false;
			}

		};
		assertThatExceptionOfType(StackOverflowError.class)
			.isThrownBy(() -> lock.acquire(KEY, "first", new Patience(PRODUCT)));
	}

	/** With a pause of 5 ms, a customer would give up after 2000 requests. */
	@Test
	void spinningKeepsRedisBusy() {
		AtomicInteger requests = new AtomicInteger();
		SpinningRetry lock = new SpinningRetry(this.redis, this.sale, LEASE_TIME) {

			@Override
			boolean tryLock(String key, String owner) {
				return requests.incrementAndGet() > 4000;
			}

		};
		lock.acquire(KEY, "first", new Patience(PRODUCT));
		assertThat(requests).hasValueGreaterThan(4000);
	}

}
