// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.time.Duration;
import java.util.List;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.servers.Network;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.UnusableStoreException;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Servers and requests with which a majority would prove nothing.
 */
class RedlockStartTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(20);

	@Test
	void anEvenNumberOfServersIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> new RedlockStore(RedlockServers.connections(1, 2, 3, 4)))
			.withMessage("Redlock needs an odd number of servers, at least three, but there are 4");
	}

	@Test
	void fewerThanThreeServersAreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> new RedlockStore(RedlockServers.connections(1)))
			.withMessageEndingWith("there are 1");
	}

	@Test
	void aDriverThatBlocksIsRefused() {
		assertRefused(new JedisConnectionFactory());
	}

	@Test
	void aClusterOrASentinelGroupIsNoServer() {
		assertRefused(new LettuceConnectionFactory(new RedisClusterConfiguration(List.of("127.0.0.1:1"))));
		assertRefused(new LettuceConnectionFactory(new RedisSentinelConfiguration().master("m").sentinel("::1", 1)));
	}

	private void assertRefused(RedisConnectionFactory server) {
		List<RedisConnectionFactory> connections = List.of(new LettuceConnectionFactory("127.0.0.1", 1),
				new LettuceConnectionFactory("127.0.0.1", 2), server);
		assertThatIllegalArgumentException().isThrownBy(() -> new RedlockStore(connections))
			.withMessageStartingWith("Redlock needs a LettuceConnectionFactory for each of its servers");
	}

	@Nested
	class WithServers {

		@AutoClose
		private final RedlockServers servers = RedlockServers.start(3);

		@Test
		void oneServerUnderTwoAddressesIsRefused() throws Exception {
			// On a busy machine, a server that answers late would count as one that is
			// down
			RedlockSettings patient = RedlockServers.nodeTimeout(Duration.ofSeconds(20));
			try (Network detour = Network.to(this.servers.port(1))) {
				assertThatIllegalArgumentException()
					.isThrownBy(() -> new RedlockStore(
							RedlockServers.connections(this.servers.port(0), this.servers.port(1), detour.port()),
							patient))
					.withMessageContaining("127.0.0.1:" + this.servers.port(1))
					.withMessageContaining("127.0.0.1:" + detour.port())
					.withMessageContaining("are the same server");
			}
		}

		@Test
		void oneServerUnderTwoAddressesIsRefusedWhenItIsReached() throws Exception {
			RedisServer down = this.servers.get(1);
			down.kill();
			try (Network detour = Network.to(down.port());
					RedlockStore store = new RedlockStore(
							RedlockServers.connections(this.servers.port(0), down.port(), detour.port()),
							RedlockServers.SETTINGS)) {
				down.restart();
				StoreClient client = new StoreClient(store);
				OwnerToken owner = OwnerToken.random();
				Awaitility.await()
					.untilAsserted(() -> assertThatExceptionOfType(UnusableStoreException.class)
						.isThrownBy(() -> client.acquire(RedlockServers.KEY, owner, LEASE_TIME, false))
						.withMessageContaining("are the same server"));
				this.servers.awaitFree();
			}
		}

		@Test
		void aServerThatIsDownDoesNotPreventTheStart() {
			try (RedlockStore store = new RedlockStore(
					RedlockServers.connections(this.servers.port(0), RedlockServers.NOBODY, this.servers.port(2)),
					AbstractRedlockTests.PATIENT)) {
				StoreClient client = new StoreClient(store);
				OwnerToken owner = OwnerToken.random();
				client.acquire(RedlockServers.KEY, owner, LEASE_TIME, false);
				assertThat(client.renew(RedlockServers.KEY, owner, LEASE_TIME)).isTrue();
				assertThat(store.address()).contains("127.0.0.1:" + this.servers.port(0) + ", database 0; 127.0.0.1:");
			}
		}

		@Test
		void noLeaseCountsForLongerThanARestartedServerHasNoVote() {
			try (RedlockStore store = this.servers.store(RedlockServers.restartDelay(Duration.ofSeconds(10)))) {
				assertThat(store.longestLease()).isEqualTo(Duration.ofSeconds(10));
			}
			try (RedlockStore store = this.servers.store()) {
				assertThat(store.longestLease()).isEqualTo(LockStore.LONGEST_LEASE);
			}
		}

		@Test
		void withoutThePermissionToSeeTheRunOfAServerTheStoreIsUnusable() {
			for (int i = 0; i < 3; i++) {
				this.servers.get(i).command("ACL", "SETUSER", "default", "-info");
			}
			try (RedlockStore store = this.servers.store()) {
				assertThatExceptionOfType(UnusableStoreException.class).isThrownBy(() -> new StoreClient(store)
					.acquire(RedlockServers.KEY, OwnerToken.random(), LEASE_TIME, false));
			}
		}

	}

}
