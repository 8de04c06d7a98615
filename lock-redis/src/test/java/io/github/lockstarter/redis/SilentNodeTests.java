// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.servers.RedisCluster;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A cluster node that no longer answers affects only the locks on it.
 */
@FullProfileOnly
@Tag("clock")
class SilentNodeTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(8);

	/** Of Jedis, whose default is a fifteenth of the default lease time too. */
	private static final Duration TIMEOUT = Duration.ofMillis(500);

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	/** After this many renewals, each lock on a healthy node has outlasted its lease. */
	private static final int RENEWALS = 4;

	@AutoClose
	private final RedisCluster cluster = RedisCluster.start("--cluster-node-timeout", "120000");

	private final RedisServer silent = this.cluster.nodes().get(0);

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	@Test
	void callersThatGaveUpOnItCostNoLockOnAnotherNode() throws Exception {
		LettuceConnectionFactory connections = lettuce();
		callersGiveUp(connections, 100);
		connections.destroy();
	}

	@Test
	void callersThatGaveUpOnItCostNoLockOnAnotherNodeWithABlockingDriver() throws Exception {
		JedisConnectionFactory connections = jedis();
		// No more than the connections in its pool, each of which waits for five
		// time-outs
		callersGiveUp(connections, 8);
		connections.destroy();
	}

	@Test
	void locksOnItCostNoLockOnAnotherNode() throws Exception {
		LettuceConnectionFactory connections = lettuce();
		try (RedisLockStore store = new RedisLockStore(connections, RedisLockSettings.DEFAULTS);
				DefaultLockRegistry registry = registry(store)) {
			// They are renewed first
			List<Lease> lost = acquire(registry, silentKeys(4));
			List<Lease> healthy = acquire(registry, healthyKeys(6));
			this.silent.pause();
			try {
				awaitRenewals(healthy);
				Awaitility.await().atMost(PATIENCE).until(() -> lost.stream().noneMatch(Lease::isHeld));
				awaitRenewals(healthy);
			}
			finally {
				this.silent.resume();
			}
			assertThat(healthy).allMatch(Lease::isHeld);
			healthy.forEach(Lease::close);
		}
		connections.destroy();
	}

	private void callersGiveUp(RedisConnectionFactory connections, int count) throws Exception {
		try (RedisLockStore store = new RedisLockStore(connections, RedisLockSettings.DEFAULTS);
				DefaultLockRegistry registry = registry(store)) {
			List<Lease> healthy = acquire(registry, healthyKeys(1));
			List<LockKey> silentKeys = silentKeys(count);
			this.silent.pause();
			try {
				List<Call<Void>> callers = silentKeys.stream()
					.map((key) -> Callers.<Void>start(() -> giveUp(registry, key)))
					.toList();
				awaitRenewals(healthy);
				for (Call<Void> caller : callers) {
					caller.get();
				}
				awaitRenewals(healthy);
			}
			finally {
				this.silent.resume();
			}
			assertThat(healthy).allMatch(Lease::isHeld);
			healthy.forEach(Lease::close);
		}
	}

	private static Void giveUp(DefaultLockRegistry registry, LockKey key) {
		LockRequest request = LockRequest.of(key).withWaitTime(Duration.ofMillis(200));
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> registry.acquire(request));
		return null;
	}

	private DefaultLockRegistry registry(RedisLockStore store) {
		return new DefaultLockRegistry(store, RedisRegistry.leaseTime(LEASE_TIME, 3), this.events::add);
	}

	private static List<Lease> acquire(DefaultLockRegistry registry, List<LockKey> keys) {
		List<Lease> leases = new ArrayList<>();
		keys.forEach((key) -> leases.add(registry.acquire(LockRequest.of(key))));
		return leases;
	}

	/**
	 * Wait until locks have been renewed for longer than their lease, or one is lost.
	 */
	private void awaitRenewals(List<Lease> leases) {
		long enough = renewals() + (long) RENEWALS * leases.size();
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> renewals() >= enough || leases.stream().anyMatch((lease) -> !lease.isHeld()));
		assertThat(leases).allMatch(Lease::isHeld);
	}

	private long renewals() {
		return this.cluster.nodes().stream().skip(1).mapToLong((node) -> node.calls("pexpire")).sum();
	}

	private List<LockKey> silentKeys(int count) {
		return keys(count, true);
	}

	private List<LockKey> healthyKeys(int count) {
		return keys(count, false);
	}

	private List<LockKey> keys(int count, boolean ofSilentNode) {
		return IntStream.iterate(0, (i) -> i + 1)
			.mapToObj((i) -> LockKey.of("node", i))
			.filter((key) -> (this.cluster.nodeOf("{" + key + "}") == this.silent) == ofSilentNode)
			.limit(count)
			.toList();
	}

	private LettuceConnectionFactory lettuce() {
		LettuceConnectionFactory connections = new LettuceConnectionFactory(
				new RedisClusterConfiguration(this.cluster.addresses()));
		connections.start();
		return connections;
	}

	private JedisConnectionFactory jedis() {
		JedisConnectionFactory connections = new JedisConnectionFactory(
				new RedisClusterConfiguration(this.cluster.addresses()),
				JedisClientConfiguration.builder().connectTimeout(TIMEOUT).readTimeout(TIMEOUT).build());
		connections.afterPropertiesSet();
		connections.start();
		return connections;
	}

}
