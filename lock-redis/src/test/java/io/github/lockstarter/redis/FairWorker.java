// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;

/**
 * One of several instances of an application. Their callers arrive at a lock by turns,
 * one of each instance after another, and record their owner tokens when they hold it.
 */
final class FairWorker {

	static final String LOCK = "lock:{ticket:1}";

	static final String GRANTS = "grants";

	static final LockRequest REQUEST = LockRequest.of(LockKey.of("ticket", 1))
		.withMode(LockMode.FAIR)
		.withWaitTime(Duration.ofMinutes(1));

	/**
	 * Nobody polls while the one whose turn it is stands still: that is when the order of
	 * the grants may differ.
	 */
	private static final EngineSettings SETTINGS = new EngineSettings(Duration.ofSeconds(10), Duration.ofSeconds(30), 3,
			Duration.ofMinutes(1), Duration.ofMillis(100), Duration.ofMillis(50), Duration.ofSeconds(20),
			Duration.ofSeconds(20));

	private FairWorker() {
	}

	/**
	 * Run the worker.
	 * @param args port of Redis, index of this worker, number of workers, number of its
	 * callers
	 */
	public static void main(String[] args) throws Exception {
		LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", Integer.parseInt(args[0]));
		connections.start();
		StringRedisTemplate redis = new StringRedisTemplate(connections);
		RedisLockStore store = new RedisLockStore(connections, RedisLockSettings.DEFAULTS);
		DefaultLockRegistry registry = new DefaultLockRegistry(store, SETTINGS, LockListener.NO_OP);
		List<Call<Boolean>> callers = new ArrayList<>();
		for (int i = 0; i < Integer.parseInt(args[3]); i++) {
			int turn = i * Integer.parseInt(args[2]) + Integer.parseInt(args[1]);
			while (waiting(redis) != turn) {
				Thread.onSpinWait();
			}
			callers.add(Callers.start(() -> {
				try (Lease lease = registry.acquire(REQUEST)) {
					redis.opsForList().rightPush(GRANTS, redis.opsForValue().get(LOCK));
					return true;
				}
			}));
		}
		System.out.println("waiting");
		for (Call<Boolean> caller : callers) {
			caller.result().join();
		}
		registry.close();
		store.close();
		connections.destroy();
	}

	private static int waiting(StringRedisTemplate redis) {
		Long waiting = redis.opsForZSet().zCard(LOCK + ":queue");
		return (waiting != null) ? waiting.intValue() : 0;
	}

}
