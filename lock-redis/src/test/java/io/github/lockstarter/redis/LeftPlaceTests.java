// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.testsupport.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Places of callers that gave up, left in the queue by a live instance: its request to
 * leave was lost, or its request to enter came after it. No waiter polls within the time
 * of a test.
 */
class LeftPlaceTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001).withMode(LockMode.FAIR);

	private static final String QUEUE = "lock:{stock:1001}:queue";

	/**
	 * If an instance needs longer than its turn to answer a message, the next one is
	 * notified anyway, but never this often in a row.
	 */
	private static final int PLACES = 50;

	private static final String CHANNEL = "lock:wake:";

	@AutoClose
	private final EmbeddedRedis redis = EmbeddedRedis.start();

	@AutoClose
	private final RedisRegistry holder = RedisRegistry.lettuce(this.redis, RedisRegistry.withoutPolling());

	@AutoClose
	private final RedisRegistry leaving = RedisRegistry.lettuce(this.redis, RedisRegistry.withoutPolling());

	@AutoClose
	private final RedisRegistry waiting = RedisRegistry.lettuce(this.redis, RedisRegistry.withoutPolling());

	@Test
	void placesInOrderOfArrivalDelayNoOther() throws Exception {
		this.leaving.acquire(REQUEST).close();
		Awaitility.await().until(() -> !this.redis.command("PUBSUB", "CHANNELS").isBlank());
		String instance = this.redis.command("PUBSUB", "CHANNELS").strip().substring(CHANNEL.length());
		Lease lease = this.holder.acquire(REQUEST);
		for (int i = 1; i <= PLACES; i++) {
			this.redis.command("ZADD", QUEUE, String.valueOf(2 * i), instance + ":left" + i);
		}
		Call<Boolean> waiter = Callers.start(() -> {
			this.waiting.acquire(REQUEST).close();
			return true;
		});
		Awaitility.await().until(() -> this.redis.command("ZCARD", QUEUE).equals(String.valueOf(PLACES + 1)));
		lease.close();
		assertThat(waiter.get()).isTrue();
		Awaitility.await().until(() -> this.redis.command("EXISTS", QUEUE).equals("0"));
	}

}
