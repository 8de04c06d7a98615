// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.lockstarter.sample.AbstractShopTests;
import io.github.lockstarter.sample.stock.Patience;
import io.github.lockstarter.sample.stock.Sales;
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
	private Sales sales;

	@BeforeEach
	void stock(@Autowired StockRepository stocks) {
		stocks.reset(PRODUCT, 5);
		this.redis.delete(KEY);
	}

	@Test
	void aConstantValueLetsALateOwnerFreeTheLockOfTheNext(@Autowired ConstantValue lock) {
		takeOverFrom(lock);
		lock.unlock(KEY, "first");
		assertThat(lock.tryLock(KEY, "third")).isTrue();
	}

	@Test
	void aSeparateExpiryLetsALateOwnerFreeTheLockOfTheNext(@Autowired SetThenExpire lock) {
		takeOverFrom(lock);
		lock.unlock(KEY, "first");
		assertThat(lock.tryLock(KEY, "third")).isTrue();
	}

	@Test
	void aScriptLeavesTheLockOfTheNext(@Autowired LuaWithoutRenewal lock) {
		takeOverFrom(lock);
		lock.unlock(KEY, "first");
		assertThat(lock.tryLock(KEY, "third")).isFalse();
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
	}

	@Test
	void aKeyMayChangeBetweenTheCheckAndTheDeletion(@Autowired GetThenDelete lock) {
		AtomicBoolean changed = new AtomicBoolean();
		StringRedisTemplate between = new StringRedisTemplate(this.connections) {

			@Override
			public Boolean delete(String key) {
				takeOver(lock);
				changed.set(true);
				return super.delete(key);
			}

		};
		GetThenDelete late = new GetThenDelete(between, this.sales, LEASE_TIME);
		assertThat(late.tryLock(KEY, "first")).isTrue();
		late.unlock(KEY, "first");
		assertThat(changed).isTrue();
		assertThat(lock.tryLock(KEY, "third")).isTrue();
	}

	@Test
	void recursionOverflowsTheStack() {
		RecursiveRetry lock = new RecursiveRetry(this.redis, this.sales, LEASE_TIME) {

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
		SpinningRetry lock = new SpinningRetry(this.redis, this.sales) {

			@Override
			boolean tryLock(String key, String owner) {
				return requests.incrementAndGet() > 4000;
			}

		};
		lock.acquire(KEY, "first", new Patience(PRODUCT));
		assertThat(requests).hasValueGreaterThan(4000);
	}

	private void takeOverFrom(NaiveRedisLock lock) {
		assertThat(lock.tryLock(KEY, "first")).isTrue();
		takeOver(lock);
	}

	/** The key expires, and the next owner comes. */
	private void takeOver(NaiveRedisLock lock) {
		this.redis.expire(KEY, Duration.ZERO);
		assertThat(lock.tryLock(KEY, "second")).isTrue();
	}

	private void command(String command, String... arguments) {
		try (RedisConnection connection = this.connections.getConnection()) {
			byte[][] bytes = Stream.of(arguments).map(String::getBytes).toArray(byte[][]::new);
			connection.execute(command, bytes);
		}
	}

}
