// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.util.Map;
import java.util.Set;
import java.util.UUID;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;

import io.github.lockstarter.benchmarks.servers.ServerAddress;

/**
 * The minimal lock on Redis that awaits each reply: {@code SET NX PX} and a
 * compare-and-delete script, on one Lettuce connection. It cannot wait for a lock.
 */
final class FloorLock implements Competitor {

	private static final String DELETE = "if redis.call('GET', KEYS[1]) == ARGV[1] then"
			+ " return redis.call('DEL', KEYS[1]) else return 0 end";

	@Override
	public String name() {
		return "floor";
	}

	@Override
	public Set<Ability> abilities() {
		return Set.of(Ability.DISTRIBUTED);
	}

	@Override
	public LockClient connect(ServerAddress server, long leaseMillis) {
		RedisClient client = RedisClient.create("redis://127.0.0.1:" + server.port());
		RedisCommands<String, String> redis = client.connect().sync();
		String delete = redis.scriptLoad(DELETE);
		SetArgs lease = SetArgs.Builder.nx().px(leaseMillis);
		return new LockClient() {

			@Override
			public Runnable lock(String key) {
				String token = UUID.randomUUID().toString();
				if (redis.set(key, token, lease) == null) {
					throw new IllegalStateException("The floor does not wait");
				}
				return () -> redis.evalsha(delete, ScriptOutputType.INTEGER, new String[] { key }, token);
			}

			@Override
			public void close() {
				client.shutdown();
			}

		};
	}

	@Override
	public long clientCommands(Map<String, Long> calls, long acquisitions) {
		return Competitor.super.clientCommands(calls, acquisitions) + calls.getOrDefault("set", 0L);
	}

}
