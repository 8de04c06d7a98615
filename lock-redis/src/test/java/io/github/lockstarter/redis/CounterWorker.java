// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.testsupport.LockedSteps;

/**
 * An instance of an application whose threads increment a plain counter in Redis by GET
 * and SET, which loses updates unless a lock is held.
 */
final class CounterWorker {

	private CounterWorker() {
	}

	/**
	 * Run the worker.
	 * @param args port of Redis, number of threads, increments of each thread, whether to
	 * lock
	 */
	public static void main(String[] args) throws Exception {
		int threads = Integer.parseInt(args[1]);
		int increments = Integer.parseInt(args[2]);
		boolean locking = Boolean.parseBoolean(args[3]);
		LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", Integer.parseInt(args[0]));
		connections.start();
		StringRedisTemplate redis = new StringRedisTemplate(connections);
		RedisLockStore store = new RedisLockStore(connections, RedisLockSettings.DEFAULTS);
		DefaultLockRegistry registry = new DefaultLockRegistry(store, EngineSettings.DEFAULTS, LockListener.NO_OP);
		redis.opsForValue().get("counter");
		LockedSteps.run(locking ? registry : null, threads, increments, () -> increment(redis));
		registry.close();
		store.close();
		connections.destroy();
	}

	private static void increment(StringRedisTemplate redis) {
		String value = redis.opsForValue().get("counter");
		redis.opsForValue().set("counter", Integer.toString((value != null) ? Integer.parseInt(value) + 1 : 1));
	}

}
