// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

import io.github.lockstarter.benchmarks.servers.ServerAddress;

/**
 * The lock of many tutorials: set if absent, or else sleep 100 ms, and
 * compare-and-delete.
 */
final class SleepingLock implements Competitor {

	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private static final RedisScript<Long> DELETE = RedisScript.of(
			"if redis.call('GET', KEYS[1]) == ARGV[1] then" + " return redis.call('DEL', KEYS[1]) else return 0 end",
			Long.class);

	@Override
	public String name() {
		return "setIfAbsent + sleep";
	}

	@Override
	public Set<Ability> abilities() {
		return Set.of(Ability.DISTRIBUTED, Ability.CONTENDED);
	}

	@Override
	public LockClient connect(ServerAddress server, long leaseMillis) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", server.port());
		connections.start();
		StringRedisTemplate redis = new StringRedisTemplate(connections);
		return new LockClient() {

			@Override
			public Runnable lock(String key) {
				String token = UUID.randomUUID().toString();
				Duration lease = Duration.ofMillis(leaseMillis);
				while (!Boolean.TRUE.equals(redis.opsForValue().setIfAbsent(key, token, lease))) {
					LockSupport.parkNanos(PAUSE_NANOS);
				}
				return () -> redis.execute(DELETE, List.of(key), token);
			}

			@Override
			public void close() {
				connections.destroy();
			}

		};
	}

	@Override
	public long clientCommands(Map<String, Long> calls, long acquisitions) {
		return Competitor.super.clientCommands(calls, acquisitions) + calls.getOrDefault("set", 0L);
	}

}
