// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.testsupport.EmbeddedRedis;
import io.github.lockstarter.testsupport.RedisSocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The cost of FAIR waiters that do not come when it is their turn.
 */
class FairWaitersTests {

	private static final LockRequest REQUEST = LockRequest.of(LockKey.of("ticket", 1)).withMode(LockMode.FAIR);

	private static final String QUEUE = "lock:{ticket:1}:queue";

	@AutoClose
	private final EmbeddedRedis redis = EmbeddedRedis.start();

	@AutoClose
	private final RedisRegistry one = RedisRegistry.lettuce(this.redis);

	@AutoClose
	private final RedisRegistry two = RedisRegistry.lettuce(this.redis);

	@Test
	void theDeadAtTheHeadCostNothing() throws Exception {
		Lease lease = this.one.acquire(REQUEST);
		for (int i = 0; i < 10; i++) {
			this.redis.command("ZADD", QUEUE, Integer.toString(2 * i), "dead" + i + ":caller");
		}
		try (RedisRegistry patient = RedisRegistry.lettuce(this.redis, RedisRegistry.withoutPolling())) {
			assertThat(waitFor(lease, patient)).isLessThan(RedisRegistry.withoutPolling().pollInterval().dividedBy(2));
		}
	}

	@Test
	void thoseAtTheHeadThatHangCostAtMostOnePollAndAMomentEach() throws Exception {
		List<RedisSocket> hanging = new ArrayList<>();
		Lease lease = this.one.acquire(REQUEST);
		for (int i = 0; i < 10; i++) {
			RedisSocket socket = new RedisSocket(this.redis.port());
			socket.command("SUBSCRIBE", "lock:wake:hanging" + i);
			hanging.add(socket);
			this.redis.command("ZADD", QUEUE, Integer.toString(2 * i), "hanging" + i + ":caller");
		}
		EngineSettings settings = RedisRegistry.pollInterval(Duration.ofSeconds(3));
		try (RedisRegistry polling = RedisRegistry.lettuce(this.redis, settings)) {
			assertThat(waitFor(lease, polling)).isLessThan(settings.pollInterval().multipliedBy(3));
		}
		hanging.forEach(RedisSocket::close);
	}

	@Test
	void manyCallersOfOneThatHangsCostNoMoreThanOne() throws Exception {
		Lease lease = this.one.acquire(REQUEST);
		try (RedisSocket socket = new RedisSocket(this.redis.port())) {
			socket.command("SUBSCRIBE", "lock:wake:.hanging");
			for (int i = 0; i < 10; i++) {
				// They are distant: the lock would be reserved for more than a second for
				// each
				this.redis.command("ZADD", QUEUE, Integer.toString(16 * i + 12), ".hanging:" + i);
			}
			assertThat(waitFor(lease, this.two)).isLessThan(RedisRegistry.SETTINGS.pollInterval().multipliedBy(6));
		}
	}

	@Test
	void aWaiterThatWithdrawsLeavesNoPlace() throws Exception {
		Lease lease = this.one.acquire(REQUEST);
		Call<Lease> first = Callers.start(() -> this.two.acquire(REQUEST));
		awaitPlaces(1);
		Call<Lease> second = Callers.start(() -> this.two.acquire(REQUEST));
		awaitPlaces(2);
		Call<Lease> impatient = Callers.start(() -> this.one.acquire(REQUEST.withWaitTime(Duration.ofSeconds(6))));
		awaitPlaces(3);
		assertThatExceptionOfType(LockContendedException.class).isThrownBy(impatient::get);
		awaitPlaces(2);
		first.thread().interrupt();
		second.thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(first::get);
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(second::get);
		awaitPlaces(0);
		lease.close();
		Awaitility.await().until(() -> this.redis.command("KEYS", "*").equals("lock:{ticket:1}:fence"));
	}

	@Test
	void aRegistryThatClosesLeavesNoPlace() throws Exception {
		try (Lease lease = this.one.acquire(REQUEST);
				RedisRegistry closing = RedisRegistry.jedis(this.redis, RedisRegistry.SETTINGS)) {
			List<Call<Lease>> waiters = new ArrayList<>();
			for (int i = 1; i <= 8; i++) {
				waiters.add(Callers.start(() -> closing.acquire(REQUEST)));
				awaitPlaces(i);
			}
			closing.close();
			for (Call<Lease> waiter : waiters) {
				assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(waiter::get);
			}
			awaitPlaces(0);
		}
	}

	private Duration waitFor(Lease lease, RedisRegistry waiting) throws Exception {
		Call<Long> waiter = Callers.start(() -> {
			try (Lease next = waiting.acquire(REQUEST)) {
				return System.nanoTime();
			}
		});
		awaitPlaces(11);
		long released = System.nanoTime();
		lease.close();
		return Duration.ofNanos(waiter.get() - released);
	}

	private void awaitPlaces(int places) {
		Awaitility.await().until(() -> this.redis.command("ZCARD", QUEUE).equals(Integer.toString(places)));
	}

}
