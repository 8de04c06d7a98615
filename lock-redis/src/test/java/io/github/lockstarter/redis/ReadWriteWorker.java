// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;

/**
 * An instance of an application. Its writers increment two plain counters in Redis, one
 * after the other. Its readers may never see them differ, unless a writer was killed in
 * between; the next writer repairs that.
 */
final class ReadWriteWorker {

	static final String FIRST = "first";

	static final String SECOND = "second";

	/** The number of increments of both. */
	static final String WRITTEN = "written";

	/** The last writer. */
	static final String WRITER = "writer";

	/** The last writers when a reader saw the counters differ. */
	static final String DIFFERENCES = "differences";

	static final LockRequest REQUEST = LockRequest.of("counters", 1).withWaitTime(Duration.ofMinutes(1));

	private static final LockRequest READ = REQUEST.withMode(LockMode.READ);

	private static final LockRequest WRITE = REQUEST.withMode(LockMode.WRITE);

	private ReadWriteWorker() {
	}

	/**
	 * Run the worker.
	 * @param args port of Redis, its name, number of writers, number of readers, rounds
	 * of each
	 */
	public static void main(String[] args) throws Exception {
		LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", Integer.parseInt(args[0]));
		connections.start();
		StringRedisTemplate redis = new StringRedisTemplate(connections);
		redis.opsForValue().get(FIRST);
		// Locks outlive a machine that stands still, but not for long a killed worker
		EngineSettings settings = new EngineSettings(Duration.ofSeconds(10), Duration.ofSeconds(6),
				EngineSettings.MAX_RENEWALS_PER_LEASE, Duration.ofSeconds(1), Duration.ofMillis(100),
				Duration.ofMillis(20), Duration.ofSeconds(5), Duration.ofSeconds(20));
		RedisLockStore store = new RedisLockStore(connections, RedisLockSettings.DEFAULTS);
		DefaultLockRegistry registry = new DefaultLockRegistry(store, settings, LockListener.NO_OP);
		System.out.println("ready");
		System.in.read();
		List<Call<Boolean>> calls = new ArrayList<>();
		String name = args[1];
		int rounds = Integer.parseInt(args[4]);
		for (int i = 0; i < Integer.parseInt(args[2]); i++) {
			calls.add(start(rounds, () -> write(registry, redis, name)));
		}
		for (int i = 0; i < Integer.parseInt(args[3]); i++) {
			calls.add(start(rounds, () -> read(registry, redis)));
		}
		for (Call<Boolean> call : calls) {
			call.result().join();
		}
		registry.close();
		store.close();
		connections.destroy();
	}

	private static Call<Boolean> start(int rounds, Runnable round) {
		return Callers.start(() -> {
			for (int i = 0; i < rounds; i++) {
				round.run();
			}
			return true;
		});
	}

	private static void write(DefaultLockRegistry registry, StringRedisTemplate redis, String name) {
		try (Lease lease = registry.acquire(WRITE)) {
			redis.opsForValue().set(WRITER, name);
			long next = number(redis, SECOND) + 1;
			redis.opsForValue().set(FIRST, Long.toString(next));
			redis.opsForValue().set(SECOND, Long.toString(next));
			redis.opsForValue().increment(WRITTEN);
		}
	}

	private static void read(DefaultLockRegistry registry, StringRedisTemplate redis) {
		try (Lease lease = registry.acquire(READ)) {
			long second = number(redis, SECOND);
			if (number(redis, FIRST) != second) {
				redis.opsForList().rightPush(DIFFERENCES, redis.opsForValue().get(WRITER));
			}
		}
	}

	private static long number(StringRedisTemplate redis, String counter) {
		String value = redis.opsForValue().get(counter);
		return (value != null) ? Long.parseLong(value) : 0;
	}

}
