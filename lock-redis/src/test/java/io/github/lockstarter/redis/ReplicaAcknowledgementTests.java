// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.StoreClient;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Grants that a replica must confirm before they count.
 */
@Tag("clock")
class ReplicaAcknowledgementTests {

	/** A busy machine may need several tries to say why, but a wrong grant would last. */
	private static final LockRequest REQUEST = LockRequest.of("stock", 1001).withWaitTime(Duration.ofMillis(100));

	private static final RedisLockSettings ONE_REPLICA = new RedisLockSettings("lock:", Duration.ofHours(1), false, 1,
			Duration.ofMillis(300));

	private static final RedisLockSettings TWO_REPLICAS = new RedisLockSettings("lock:", Duration.ofHours(1), false, 2,
			Duration.ofMillis(300));

	private static final LockRequest PATIENT = REQUEST.withWaitTime(Duration.ofSeconds(20));

	@AutoClose
	private final RedisServer redis = RedisServer.start();

	abstract static class Acknowledgements {

		@AutoClose
		private final RedisServer primary = RedisServer.start();

		@AutoClose
		private final RedisServer replica = RedisServer.startReplicaOf(this.primary);

		abstract RedisRegistry registry(RedisServer redis, RedisLockSettings settings);

		@Test
		void aGrantThatAReplicaHasCountsAtOnce() {
			awaitReplica();
			try (RedisRegistry registry = registry(this.primary, ONE_REPLICA);
					Lease lease = registry.acquire(PATIENT)) {
				assertThat(lease.isHeld()).isTrue();
				assertThat(this.replica.command("EXISTS", "lock:{stock:1001}")).isEqualTo("1");
			}
			assertThat(this.primary.command("EXISTS", "lock:{stock:1001}")).isEqualTo("0");
		}

		@Test
		void aGrantThatNoReplicaConfirmsIsReleased() throws Exception {
			awaitReplica();
			try (RedisRegistry registry = registry(this.primary, ONE_REPLICA)) {
				registry.acquire(PATIENT).close();
				this.replica.pause();
				Awaitility.await()
					.untilAsserted(() -> assertThatExceptionOfType(LockUnavailableException.class)
						.isThrownBy(() -> registry.acquire(REQUEST))
						.withMessageContaining("Replicas that have confirmed the grant within 300 ms: 0;")
						.withMessageContaining("distributed-lock.redis.min-replica-acks requires 1"));
				Awaitility.await()
					.untilAsserted(
							() -> assertThat(this.primary.command("EXISTS", "lock:{stock:1001}")).isEqualTo("0"));
				this.replica.resume();
				registry.acquire(PATIENT).close();
			}
			finally {
				this.replica.resume();
			}
		}

		@Test
		void aShareThatNoReplicaConfirmsIsReleasedAndThoseOfOthersStay() throws Exception {
			awaitReplica();
			try (RedisRegistry registry = registry(this.primary, ONE_REPLICA);
					RedisRegistry other = RedisRegistry.lettuce(this.primary);
					Lease share = other.acquire(PATIENT.withMode(LockMode.READ))) {
				registry.acquire(PATIENT.withMode(LockMode.READ)).close();
				this.replica.pause();
				assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> registry.acquire(REQUEST.withMode(LockMode.READ)));
				Awaitility.await()
					.untilAsserted(() -> assertThat(this.primary.command("ZCARD", "lock:{stock:1001}:readers"))
						.isEqualTo("1"));
				share.ensureHeld();
			}
			finally {
				this.replica.resume();
			}
		}

		@Test
		void oneReplicaIsNotEnoughWhereTwoAreWanted() {
			awaitReplica();
			try (RedisRegistry registry = registry(this.primary, TWO_REPLICAS)) {
				Awaitility.await()
					.untilAsserted(() -> assertThatExceptionOfType(LockUnavailableException.class)
						.isThrownBy(() -> registry.acquire(REQUEST))
						.withMessageContaining(" ms: 1;"));
			}
		}

		private void awaitReplica() {
			Awaitility.await().until(() -> this.replica.command("ROLE").contains("connected"));
		}

	}

	@Nested
	class WithLettuce extends Acknowledgements {

		@Override
		RedisRegistry registry(RedisServer redis, RedisLockSettings settings) {
			return RedisRegistry.lettuce(redis, settings);
		}

	}

	/** The next request uses another connection, and would overtake the release. */
	@Test
	void aReleaseIsAnsweredWhenItReturns() {
		LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", this.redis.port());
		connections.start();
		try (RedisLockStore store = new RedisLockStore(connections, ONE_REPLICA)) {
			OwnerToken owner = OwnerToken.random();
			new StoreClient(store).release(REQUEST.key(), owner);
			this.redis.command("CLIENT", "PAUSE", "300", "WRITE");
			assertThat(store.release(REQUEST.key(), owner)).isCompletedWithValue(false);
		}
		finally {
			connections.destroy();
		}
	}

	@Nested
	@FullProfileOnly
	class WithJedis extends Acknowledgements {

		@Override
		RedisRegistry registry(RedisServer redis, RedisLockSettings settings) {
			return RedisRegistry.jedis(redis, settings);
		}

	}

}
