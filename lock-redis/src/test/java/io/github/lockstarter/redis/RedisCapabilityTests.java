// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.WaitingLine;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The capabilities that the store declares, without a server. The contract tests skip
 * undeclared ones.
 */
class RedisCapabilityTests {

	private static final RedisLockSettings AWAITING_RELEASES = new RedisLockSettings("lock:", Duration.ofHours(24),
			true, 0, Duration.ofSeconds(1));

	private static final RedisLockSettings AWAITING_REPLICAS = new RedisLockSettings("lock:", Duration.ofHours(24),
			false, 1, Duration.ofSeconds(1));

	private final LettuceConnectionFactory lettuce = new LettuceConnectionFactory();

	@Test
	void itDeclaresEverything() {
		try (RedisLockStore store = new RedisLockStore(this.lettuce, RedisLockSettings.DEFAULTS)) {
			assertThat(store.modes()).containsExactlyInAnyOrder(LockMode.values());
			assertThat(store.keeping()).isPresent();
			assertThat(store.waitingLine()).isNotSameAs(WaitingLine.NONE);
		}
	}

	@Test
	void onlyOurOwnConnectionsNeverBlock() {
		assertThat(mayBlock(this.lettuce, RedisLockSettings.DEFAULTS)).isFalse();
		assertThat(mayBlock(new LettuceConnectionFactory() {
		}, RedisLockSettings.DEFAULTS)).isTrue();
		assertThat(mayBlock(new JedisConnectionFactory(), RedisLockSettings.DEFAULTS)).isTrue();
	}

	@Test
	void whereAReleaseIsAwaitedItBlocks() {
		assertThat(mayBlock(this.lettuce, AWAITING_RELEASES)).isTrue();
		assertThat(mayBlock(this.lettuce, AWAITING_REPLICAS)).isTrue();
	}

	private static boolean mayBlock(RedisConnectionFactory connections, RedisLockSettings settings) {
		try (RedisLockStore store = new RedisLockStore(connections, settings)) {
			return store.mayBlock();
		}
	}

}
