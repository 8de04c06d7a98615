// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.ReactiveStringRedisTemplate;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.interceptor.DistributedLockAdvisor;
import io.github.lockstarter.interceptor.LockDefinitionSource;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.servers.SharedServers.RedisDatabase;
import io.github.lockstarter.test.SafetyViolation;

/**
 * Bodies that end on an event loop of the driver.
 */
class AsyncLocksTests {

	private static final RedisDatabase redis = SharedServers.redis();

	private static final int CALLS = 50;

	@Test
	void reactiveAdditionsWithoutAnAtomicCommandAreNotLost() {
		LettuceConnectionFactory connections = RedisRegistry.connections(redis);
		connections.start();
		try (RedisRegistry one = RedisRegistry.lettuce(redis); RedisRegistry two = RedisRegistry.lettuce(redis)) {
			ReactiveStringRedisTemplate template = new ReactiveStringRedisTemplate(connections);
			List<Counter> counters = List.of(proxy(new Counter(template), one.registry()),
					proxy(new Counter(template), two.registry()));
			List<Mono<Long>> calls = IntStream.range(0, CALLS).mapToObj((i) -> counters.get(i % 2).add(1)).toList();
			Flux.merge(Flux.fromIterable(calls), CALLS).blockLast(Duration.ofMinutes(1));
			String counter = redis.command("GET", "counter");
			SafetyViolation.check(counter.equals(String.valueOf(CALLS)), "%s instead of %d additions", counter, CALLS);
			Awaitility.await().until(() -> redis.command("KEYS", "lock:*").equals("lock:{counter}:fence"));
		}
		finally {
			connections.destroy();
		}
	}

	private static Counter proxy(Counter target, LockRegistry registry) {
		ProxyFactory factory = new ProxyFactory(target);
		factory.setProxyTargetClass(true);
		factory.addAdvisor(new DistributedLockAdvisor(new LockDefinitionSource(new DefaultListableBeanFactory()),
				(name) -> registry));
		return (Counter) factory.getProxy();
	}

	static class Counter {

		private final ReactiveStringRedisTemplate redis;

		Counter(ReactiveStringRedisTemplate redis) {
			this.redis = redis;
		}

		/** Ends on an event loop of the driver. */
		@DistributedLock(name = "counter", waitTime = "60s")
		public Mono<Long> add(long count) {
			return this.redis.opsForValue()
				.get("counter")
				.defaultIfEmpty("0")
				.map((value) -> Long.parseLong(value) + count)
				.flatMap((sum) -> this.redis.opsForValue().set("counter", String.valueOf(sum)).thenReturn(sum));
		}

	}

}
