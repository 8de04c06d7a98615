// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.List;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.AbstractCapableLockStoreTests;

/**
 * The contract in Redis.
 */
abstract class AbstractRedisLockStoreTests extends AbstractCapableLockStoreTests {

	/** What never expires stays. */
	private static final RedisScript<Long> EXPIRE = RedisScript.of("""
			local key, readers, owner, time = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
			if readers and redis.call('EXISTS', readers) == 1 then
			  redis.call('ZINCRBY', readers, -time, owner)
			  local last = redis.call('ZRANGE', readers, -1, -1, 'WITHSCORES')[2]
			  redis.call('PEXPIREAT', readers, last)
			  return redis.call('PEXPIREAT', key, last)
			end
			local remaining = redis.call('PTTL', key)
			return remaining >= 0 and redis.call('PEXPIRE', key, remaining - time)
			""", Long.class);

	/** For how many times the shortest turn a lock is reserved at most. */
	private static final int LONGEST_TURN = 64;

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
	protected boolean sharesJvms() {
		return true;
	}

	@Override
	protected void expire(LockKey key, OwnerToken owner) {
		String lock = this.keys.lock(key);
		letPass(LEASE_TIME, owner.value(), lock, this.keys.readers(lock));
	}

	@Override
	protected void endReservation(LockKey key) {
		letPass(RESERVATION.multipliedBy(LONGEST_TURN), "", this.keys.turn(this.keys.lock(key)));
	}

	private void letPass(Duration time, String owner, String... keys) {
		new StringRedisTemplate(admin()).execute(EXPIRE, List.of(keys), owner, Long.toString(time.toMillis()));
	}

}
