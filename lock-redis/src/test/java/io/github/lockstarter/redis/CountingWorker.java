// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.io.InputStream;
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
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;

/**
 * An instance of an application whose threads increment a plain counter in Redis by GET
 * and SET, which loses updates unless a lock is held.
 */
final class CountingWorker {

	static final int THREADS = 16;

	static final int INCREMENTS = 5;

	/** The key of what no owner may see, in whichever JVM it was. */
	static final String VIOLATION = "violation";

	private static final LockRequest REQUEST = LockRequest.of("counter", 1).withWaitTime(Duration.ofMinutes(1));

	/** Outlives a machine that stands still. */
	private static final Duration LEASE_TIME = Duration.ofMinutes(1);

	private CountingWorker() {
	}

	/**
	 * Run a worker that counts when its input ends.
	 * @param args port of Redis, number of the database, whether to acquire the lock
	 * before, and to print its token
	 */
	public static void main(String[] args) throws Exception {
		run(Integer.parseInt(args[0]), Integer.parseInt(args[1]), Boolean.parseBoolean(args[2]), System.in);
	}

	/**
	 * Count in this JVM.
	 */
	static void count(int port, int database) throws Exception {
		run(port, database, false, InputStream.nullInputStream());
	}

	private static void run(int port, int database, boolean holding, InputStream input) throws Exception {
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("127.0.0.1", port);
		server.setDatabase(database);
		LettuceConnectionFactory connections = new LettuceConnectionFactory(server);
		connections.start();
		ValueOperations<String, String> values = new StringRedisTemplate(connections).opsForValue();
		RedisLockStore store = new RedisLockStore(connections);
		DefaultLockRegistry registry = new DefaultLockRegistry(store, RedisRegistry.often(LEASE_TIME),
				LockListener.NO_OP);
		if (holding) {
			System.out.println(registry.acquire(REQUEST).fencingToken());
		}
		input.read();
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
			if (lease.fencingToken() <= token) {
				values.set(VIOLATION, "token %d after %d".formatted(lease.fencingToken(), token));
			}
			values.set("token", Long.toString(lease.fencingToken()));
			values.set("counter", Long.toString(number(values, "counter") + 1));
		}
	}

	private static long number(ValueOperations<String, String> values, String key) {
		String value = values.get(key);
		return (value != null) ? Long.parseLong(value) : 0;
	}

}
