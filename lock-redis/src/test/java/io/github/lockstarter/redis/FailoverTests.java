// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.servers.Network;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The address of Redis moves to a replica that was promoted, while the connections to the
 * old primary stay open.
 */
@Tag("clock")
class FailoverTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private static final LockRequest OTHER = LockRequest.of("stock", 1002);

	/**
	 * A waiter asks later than a test ends, unless it is notified. Each test waits for
	 * some renewals.
	 */
	private static final EngineSettings SETTINGS = new EngineSettings(Duration.ofMinutes(1), Duration.ofSeconds(10), 20,
			Duration.ofMinutes(5), EngineSettings.DEFAULTS.pollIntervalWithoutMessages(),
			EngineSettings.DEFAULTS.timeSlice(), Duration.ofSeconds(1), Duration.ofSeconds(50));

	abstract static class Failover {

		final RedisServer before = RedisServer.start();

		private final RedisServer after = RedisServer.startReplicaOf(this.before);

		private final Network network = Network.to(this.before.port());

		private final RedisRegistry registry = RedisRegistry.of(connections(this.network.port()), SETTINGS);

		private final RedisRegistry waiting = RedisRegistry.of(connections(this.network.port()), SETTINGS);

		abstract RedisConnectionFactory connections(int port);

		@AfterEach
		void close() {
			this.before.resume();
			this.registry.close();
			this.waiting.close();
			this.network.close();
			this.after.close();
			this.before.close();
		}

		@Test
		void aHeldLockSurvivesAndOthersAreGrantedThoughTheOldPrimaryLivesOnAsAReplica() throws Exception {
			Lease held = acquireOnBoth();
			promote();
			this.before.command("REPLICAOF", "127.0.0.1", String.valueOf(this.after.port()));
			assertMoved(held);
		}

		@Test
		void aHeldLockSurvivesThoughTheOldPrimaryRefusesWritesForOtherReasons() throws Exception {
			Lease held = acquireOnBoth();
			promote();
			this.before.command("CONFIG", "SET", "min-replicas-to-write", "3");
			assertMoved(held);
		}

		final Lease acquireOnBoth() {
			this.registry.awaitConnected(this.before);
			this.waiting.acquire(OTHER).close();
			Awaitility.await().until(() -> listening(this.before) == 2);
			Lease held = this.registry.acquire(REQUEST);
			Awaitility.await().until(() -> this.after.command("EXISTS", "lock:{stock:1001}").equals("1"));
			return held;
		}

		final void promote() {
			this.after.command("REPLICAOF", "NO", "ONE");
			this.network.moveTo(this.after.port());
		}

		final void assertMoved(Lease held) throws Exception {
			Lease other = this.registry.acquire(OTHER);
			assertThat(this.after.command("EXISTS", "lock:{stock:1002}")).isEqualTo("1");
			long renewals = this.after.calls("pexpire");
			Awaitility.await().until(() -> this.after.calls("pexpire") > renewals + 2);
			assertThat(held.isHeld()).isTrue();
			assertNotified(other, this.waiting);
			assertNotified(this.waiting.acquire(OTHER), this.registry);
			assertThat(listening(this.after)).isEqualTo(2);
			held.close();
			Awaitility.await().until(() -> this.after.command("EXISTS", "lock:{stock:1001}").equals("0"));
		}

		/** A message of the new primary reaches a waiter that does not poll. */
		private void assertNotified(Lease held, RedisRegistry waiting) throws Exception {
			Call<Lease> waiter = Callers.start(() -> waiting.acquire(OTHER));
			Awaitility.await().until(() -> this.after.command("EXISTS", "lock:{stock:1002}:queue").equals("1"));
			held.close();
			waiter.get().close();
		}

		private static long listening(RedisServer redis) {
			return redis.command("PUBSUB", "CHANNELS").lines().filter((channel) -> channel.contains("wake")).count();
		}

	}

	/** With connections that leave a silent server by themselves. */
	abstract static class FailoverOfASilentPrimary extends Failover {

		@Test
		@FullProfileOnly
		void aHeldLockSurvivesThoughTheOldPrimaryIsSilent() throws Exception {
			Lease held = acquireOnBoth();
			this.before.pause();
			promote();
			assertMoved(held);
		}

	}

	@Nested
	class WithLettuce extends FailoverOfASilentPrimary {

		@Override
		RedisConnectionFactory connections(int port) {
			// Half of the default, because the silence of the old primary costs a test as
			// long
			return RedisRegistry.connections(RedisRegistry.server(port), Duration.ofSeconds(1));
		}

	}

	/** They stay with a silent server for as long as the driver lets them. */
	@Nested
	@FullProfileOnly
	class WithTheConnectionsOfTheApplication extends Failover {

		@Override
		RedisConnectionFactory connections(int port) {
			return new LettuceConnectionFactory(RedisRegistry.server(port)) {
			};
		}

	}

	@Nested
	@FullProfileOnly
	class WithJedis extends FailoverOfASilentPrimary {

		@Override
		RedisConnectionFactory connections(int port) {
			return new JedisConnectionFactory(RedisRegistry.server(port));
		}

	}

}
