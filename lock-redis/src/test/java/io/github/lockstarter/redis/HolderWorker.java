// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;

/**
 * An instance of an application that acquires a lock and holds it until the instance is
 * killed.
 */
final class HolderWorker {

	private HolderWorker() {
	}

	/**
	 * Run the worker.
	 * @param args port of Redis, key of the lock, lease time in milliseconds
	 */
	public static void main(String[] args) throws Exception {
		LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", Integer.parseInt(args[0]));
		connections.start();
		EngineSettings settings = new EngineSettings(Duration.ofSeconds(10), Duration.ofMillis(Long.parseLong(args[2])),
				EngineSettings.MAX_RENEWALS_PER_LEASE, Duration.ofSeconds(1), Duration.ofMillis(100),
				Duration.ofMillis(50), Duration.ofSeconds(1), Duration.ofSeconds(20));
		DefaultLockRegistry registry = new DefaultLockRegistry(
				new RedisLockStore(connections, RedisLockSettings.DEFAULTS), settings, LockListener.NO_OP);
		System.out.println(registry.acquire(LockRequest.of("held", args[1])).fencingToken());
		System.in.read();
	}

}
