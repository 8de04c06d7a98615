// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;

/**
 * A program that locks in Redis, without an application context.
 */
public final class ProgramWithoutSpringBoot {

	private ProgramWithoutSpringBoot() {
	}

	public static void main(String[] arguments) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1",
				Integer.parseInt(arguments[0]));
		connections.start();
		try (RedisLockStore store = new RedisLockStore(connections, RedisLockSettings.DEFAULTS);
				DefaultLockRegistry registry = new DefaultLockRegistry(store, EngineSettings.DEFAULTS,
						LockListener.NO_OP)) {
			LockRequest stock = LockRequest.of("stock", 1001);
			LockTemplate template = new LockTemplate(registry);
			long first = template.execute(stock, Lease::fencingToken);
			System.out.println("grows: " + (template.execute(stock, Lease::fencingToken) > first));
		}
		connections.destroy();
		System.out.println("Spring Boot: " + isPresent("org.springframework.boot.SpringApplication"));
		System.out
			.println("annotated methods: " + isPresent("io.github.lockstarter.interceptor.DistributedLockAdvisor"));
		System.exit(0);
	}

	private static boolean isPresent(String type) {
		return ProgramWithoutSpringBoot.class.getResource('/' + type.replace('.', '/') + ".class") != null;
	}

}
