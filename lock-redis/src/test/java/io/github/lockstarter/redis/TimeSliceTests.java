// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.testsupport.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An instance that waits for another one waits for a time slice and the hold under way at
 * its end, and for no further hold.
 */
class TimeSliceTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private static final LockRequest READ = REQUEST.withMode(LockMode.READ);

	private static final LockRequest READ_NOW = READ.withWaitTime(Duration.ZERO);

	private static final Duration SLICE = Duration.ofMillis(300);

	@AutoClose
	private final EmbeddedRedis redis = EmbeddedRedis.start();

	@AutoClose
	private final RedisRegistry one = RedisRegistry.lettuce(this.redis, RedisRegistry.timeSlice(SLICE));

	@AutoClose
	private final RedisRegistry two = RedisRegistry.lettuce(this.redis);

	private final List<String> holders = new CopyOnWriteArrayList<>();

	@ParameterizedTest
	@ValueSource(ints = { 1, 4 })
	void theHoldThatGoesOnAtTheEndOfTheSliceIsTheLast(int others) throws Exception {
		Lease lease = this.one.acquire(REQUEST);
		List<Call<Boolean>> local = IntStream.range(0, others)
			.mapToObj((i) -> holder(this.one, REQUEST, "the same instance"))
			.toList();
		for (Call<Boolean> call : local) {
			call.awaitParked();
		}
		Call<Boolean> remote = remoteWaiter(REQUEST);
		letTheSlicePass();
		lease.close();
		remote.get();
		for (Call<Boolean> call : local) {
			call.get();
		}
		assertThat(this.holders).startsWith("the other instance");
	}

	@Test
	void soIsALaterHoldThatTheOtherInstanceHasFound() throws Exception {
		Lease lease = this.one.acquire(REQUEST);
		CountDownLatch end = new CountDownLatch(1);
		CountDownLatch begin = new CountDownLatch(1);
		Call<Boolean> second = Callers.start(() -> {
			try (Lease held = this.one.acquire(REQUEST)) {
				begin.countDown();
				end.await();
				return held.isHeld();
			}
		}).awaitParked();
		letTheSlicePass();
		lease.close();
		begin.await();
		Call<Boolean> third = holder(this.one, REQUEST, "the same instance").awaitParked();
		Call<Boolean> remote = remoteWaiter(REQUEST);
		letTheSlicePass();
		end.countDown();
		assertThat(second.get()).isTrue();
		remote.get();
		third.get();
		assertThat(this.holders).startsWith("the other instance");
	}

	@Test
	void whileNobodyElseWaitsTheNextHoldCostsOneQuestion() throws Exception {
		Lease lease = this.one.acquire(REQUEST);
		Call<Long> next = Callers.start(() -> {
			try (Lease held = this.one.acquire(REQUEST)) {
				return held.fencingToken();
			}
		}).awaitParked();
		this.one.awaitConnected(this.redis);
		letTheSlicePass();
		List<String> commands = this.redis.monitor(() -> {
			lease.close();
			next.result().join();
			Awaitility.await().until(() -> this.one.activeLocks() == 0 && this.one.backgroundActions() == 0);
		});
		assertThat(commands).hasSize(2);
		assertThat(next.get()).isEqualTo(lease.fencingToken() + 1);
	}

	@Test
	void aReaderAsksBeforeItJoins() throws Exception {
		Lease lasting = this.one.acquire(READ);
		Call<Boolean> writer = remoteWaiter(REQUEST);
		letTheSlicePass();
		assertThat(Callers.start(() -> this.one.tryAcquire(READ_NOW)).get()).isEmpty();
		Call<Boolean> reader = holder(this.one, READ, "the same instance").awaitParked();
		CompletableFuture<Lease> future = this.one.acquireAsync(READ);
		lasting.close();
		writer.get();
		reader.get();
		future.get().close();
		assertThat(this.holders).startsWith("the other instance");
	}

	@Test
	void aReaderWithoutAThreadAsksBeforeItJoins() throws Exception {
		Lease lasting = this.one.acquire(READ);
		Call<Boolean> writer = remoteWaiter(REQUEST);
		letTheSlicePass();
		CompletableFuture<Lease> future = this.one.acquireAsync(READ)
			.whenComplete((lease, ex) -> this.holders.add("the same instance"));
		lasting.close();
		writer.get();
		future.get().close();
		assertThat(this.holders).startsWith("the other instance");
	}

	@Test
	void aReaderThatHasAskedJoinsWhereNobodyWaits() throws Exception {
		try (Lease lasting = this.one.acquire(READ)) {
			this.one.awaitConnected(this.redis);
			letTheSlicePass();
			Call<List<String>> reader = Callers
				.start(() -> this.redis.monitor(() -> this.one.tryAcquire(READ_NOW).orElseThrow().close()));
			assertThat(reader.get()).hasSize(1);
			letTheSlicePass();
			this.one.acquireAsync(READ).get().close();
			assertThat(lasting.isHeld()).isTrue();
		}
	}

	private Call<Boolean> remoteWaiter(LockRequest request) {
		Call<Boolean> waiter = holder(this.two, request, "the other instance");
		Awaitility.await().until(() -> this.redis.command("EXISTS", "lock:{stock:1001}:queue").equals("1"));
		return waiter;
	}

	private Call<Boolean> holder(RedisRegistry registry, LockRequest request, String name) {
		return Callers.start(() -> {
			try (Lease lease = registry.acquire(request)) {
				return this.holders.add(name);
			}
		});
	}

	private static void letTheSlicePass() {
		long start = System.nanoTime();
		Awaitility.await().until(() -> System.nanoTime() - start > SLICE.toNanos());
	}

}
