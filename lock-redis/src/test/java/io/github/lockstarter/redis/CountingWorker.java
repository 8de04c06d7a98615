// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.ValueOperations;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.SafetyViolation;

/**
 * An instance of an application whose threads increment a plain counter in Redis by GET
 * and SET, which loses updates unless a lock is held.
 */
final class CountingWorker {

	static final int THREADS = 16;

	static final int INCREMENTS = 5;

	private static final LockRequest REQUEST = LockRequest.of("counter", 1).withWaitTime(Duration.ofMinutes(1));

	/** The lock of a worker that is killed ends soon. */
	private static final Duration LEASE_TIME_OF_HOLDER = Duration.ofSeconds(5);

	/** That of a worker that counts outlives a machine that stands still. */
	private static final Duration LEASE_TIME = Duration.ofMinutes(1);

	private CountingWorker() {
	}

	/**
	 * Run the worker.
	 * @param args port of Redis, number of the database, whether to hold the lock for
	 * ever
	 */
	public static void main(String[] args) throws Exception {
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("127.0.0.1", Integer.parseInt(args[0]));
		server.setDatabase(Integer.parseInt(args[1]));
		LettuceConnectionFactory connections = new LettuceConnectionFactory(server);
		connections.start();
		ValueOperations<String, String> values = new StringRedisTemplate(connections).opsForValue();
		RedisLockStore store = new RedisLockStore(connections);
		boolean holding = Boolean.parseBoolean(args[2]);
		EngineSettings settings = RedisRegistry.often(holding ? LEASE_TIME_OF_HOLDER : LEASE_TIME);
		DefaultLockRegistry registry = new DefaultLockRegistry(store, settings, LockListener.NO_OP);
		if (holding) {
			System.out.println(registry.acquire(REQUEST).fencingToken());
			System.in.read();
		}
		List<Call<Void>> calls = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			calls.add(Callers.start(() -> {
				for (int n = 0; n < INCREMENTS; n++) {
					increment(registry, values);
				}
				return null;
			}));
		}
		for (Call<Void> call : calls) {
			call.get();
		}
		registry.close();
		store.close();
		connections.destroy();
	}

	private static void increment(DefaultLockRegistry registry, ValueOperations<String, String> values) {
		try (Lease lease = registry.acquire(REQUEST)) {
			long token = number(values, "token");
			SafetyViolation.check(lease.fencingToken() > token, "token %d after %d", lease.fencingToken(), token);
			values.set("token", Long.toString(lease.fencingToken()));
			values.set("counter", Long.toString(number(values, "counter") + 1));
		}
	}

	private static long number(ValueOperations<String, String> values, String key) {
		String value = values.get(key);
		return (value != null) ? Long.parseLong(value) : 0;
	}

}
