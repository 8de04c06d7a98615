// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.ReactiveStringRedisTemplate;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.interceptor.DistributedLockAdvisor;
import io.github.lockstarter.interceptor.LockDefinitionSource;
import io.github.lockstarter.testsupport.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Asynchronous callers on a real Redis.
 */
class AsyncLocksTests {

	private static final EmbeddedRedis redis = EmbeddedRedis.start();

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final int CALLS = 200;

	@BeforeEach
	void empty() {
		redis.command("FLUSHALL");
	}

	@AfterAll
	static void stop() {
		redis.close();
	}

	static Stream<Named<Function<EmbeddedRedis, RedisRegistry>>> drivers() {
		return Stream.of(Named.of("Lettuce", RedisRegistry::lettuce),
				Named.of("Jedis", (server) -> RedisRegistry.jedis(server, RedisRegistry.SETTINGS)));
	}

	@ParameterizedTest
	@MethodSource("drivers")
	void reactiveAdditionsWithoutAnAtomicCommandAreNotLost(Function<EmbeddedRedis, RedisRegistry> driver) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", redis.port());
		connections.start();
		try (RedisRegistry one = driver.apply(redis); RedisRegistry two = driver.apply(redis)) {
			ReactiveStringRedisTemplate template = new ReactiveStringRedisTemplate(connections);
			List<Counter> counters = List.of(proxy(new Counter(template), one), proxy(new Counter(template), two));
			List<Mono<Long>> calls = new ArrayList<>();
			for (int i = 0; i < CALLS; i++) {
				calls.add(counters.get(i % 2).add((i % 5 == 0) ? 2 : 1));
			}
			Flux.merge(Flux.fromIterable(calls), CALLS).blockLast(PATIENCE);
			assertThat(redis.command("GET", "counter")).isEqualTo(String.valueOf(CALLS / 5 * 6));
			awaitNothingLeft(one, two);
		}
		finally {
			connections.destroy();
		}
	}

	@ParameterizedTest
	@MethodSource("drivers")
	void futuresWithEveryEndLeaveNothingInRedis(Function<EmbeddedRedis, RedisRegistry> driver) {
		try (RedisRegistry one = driver.apply(redis); RedisRegistry two = driver.apply(redis)) {
			AtomicInteger inside = new AtomicInteger();
			List<CompletableFuture<Boolean>> calls = new ArrayList<>();
			for (int i = 0; i < CALLS; i++) {
				LockRequest request = LockRequest.of("stock", 1001)
					.withMode((i % 4 == 0) ? LockMode.FAIR : LockMode.EXCLUSIVE)
					.withWaitTime(Duration.ofMillis((i % 3 == 0) ? i : 20_000));
				CompletableFuture<Lease> acquisition = ((i % 2 == 0) ? one : two).acquireAsync(request);
				calls.add(acquisition.thenApply((lease) -> {
					boolean alone = inside.incrementAndGet() == 1;
					inside.decrementAndGet();
					lease.close();
					return alone;
				}).exceptionally((ex) -> true));
				if (i % 5 == 0) {
					acquisition.cancel(false);
				}
			}
			assertThat(calls).allSatisfy((call) -> assertThat(call.orTimeout(60, TimeUnit.SECONDS).join()).isTrue());
			awaitNothingLeft(one, two);
		}
	}

	private static void awaitNothingLeft(RedisRegistry... registries) {
		for (RedisRegistry registry : registries) {
			Awaitility.await().until(() -> registry.activeLocks() == 0 && registry.backgroundActions() == 0);
		}
		Awaitility.await()
			.untilAsserted(() -> assertThat(redis.command("KEYS", "lock:*").lines())
				.allMatch((key) -> key.endsWith(":fence")));
	}

	private static Counter proxy(Counter target, RedisRegistry registry) {
		ProxyFactory factory = new ProxyFactory(target);
		factory.setProxyTargetClass(true);
		factory.addAdvisor(
				new DistributedLockAdvisor(new LockDefinitionSource(new DefaultListableBeanFactory()), () -> registry));
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
