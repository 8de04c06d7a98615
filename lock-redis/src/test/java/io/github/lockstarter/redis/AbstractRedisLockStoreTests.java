// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.util.List;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.AbstractLockStoreTests;

/**
 * The contract in Redis.
 */
abstract class AbstractRedisLockStoreTests extends AbstractLockStoreTests {

	private static final RedisScript<Long> EXPIRE = RedisScript.of("""
			local lock, readers, owner, time = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
			if redis.call('EXISTS', readers) == 0 then
			  return redis.call('PEXPIRE', lock, redis.call('PTTL', lock) - time)
			end
			redis.call('ZINCRBY', readers, -time, owner)
			local last = redis.call('ZRANGE', readers, -1, -1, 'WITHSCORES')[2]
			redis.call('PEXPIREAT', readers, last)
			return redis.call('PEXPIREAT', lock, last)
			""", Long.class);

	private final RedisLockKeys keys = new RedisLockKeys(RedisLockSettings.DEFAULTS.prefix());

	/**
	 * Return the connections for a store.
	 */
	abstract RedisConnectionFactory connections();

	/**
	 * Return connections with all rights.
	 */
	RedisConnectionFactory admin() {
		return connections();
	}

	@Override
	protected LockStore createStore() {
		return new RedisLockStore(connections(), RedisLockSettings.DEFAULTS, new Distance(RESERVATION));
	}

	@Override
	protected void expire(LockKey key, OwnerToken owner) {
		String lock = this.keys.lock(key);
		new StringRedisTemplate(admin()).execute(EXPIRE, List.of(lock, this.keys.readers(lock)), owner.value(),
				Long.toString(LEASE_TIME.toMillis()));
	}

	@Override
	protected void endReservation(LockKey key) {
		new StringRedisTemplate(admin()).delete(this.keys.turn(this.keys.lock(key)));
	}

}
