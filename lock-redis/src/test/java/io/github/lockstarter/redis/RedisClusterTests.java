// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.servers.RedisCluster;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.StoreClient;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Locks in a cluster, where each slot has its own server, and no server knows the
 * listeners of the others.
 */
class RedisClusterTests {

	private static final Duration LEASE_TIME = Duration.ofMinutes(20);

	@AutoClose
	private static RedisCluster cluster;

	@AutoClose("destroy")
	private static LettuceConnectionFactory lettuce;

	@AutoClose("destroy")
	private static JedisConnectionFactory jedis;

	@BeforeAll
	static void start() {
		cluster = RedisCluster.start();
		RedisClusterConfiguration nodes = new RedisClusterConfiguration(cluster.addresses());
		lettuce = new LettuceConnectionFactory(nodes);
		lettuce.start();
		jedis = new JedisConnectionFactory(nodes, RedisRegistry.PATIENT_JEDIS);
		jedis.afterPropertiesSet();
		jedis.start();
	}

	/**
	 * On a busy machine, connecting to each server may take longer than a request may.
	 */
	private static void awaitConnected(RedisLockStore store) {
		StoreClient client = new StoreClient(store);
		for (int i = 0; i < 50; i++) {
			LockKey key = LockKey.of("connected", i);
			Awaitility.await().ignoreExceptions().untilAsserted(() -> client.withdraw(key));
		}
	}

	@Test
	void leasesOfAllSlotsAreRenewedAtOnce() {
		try (RedisLockStore store = new RedisLockStore(lettuce, RedisLockSettings.DEFAULTS)) {
			awaitConnected(store);
			OwnerToken owner = OwnerToken.random();
			List<LeaseRequest> extensions = new ArrayList<>();
			for (int i = 0; i < 50; i++) {
				LockKey key = LockKey.of("slots", i);
				new StoreClient(store).acquire(key, owner, Duration.ofMinutes(5), false);
				extensions.add(new LeaseRequest(key, owner, LEASE_TIME));
			}
			extensions.add(new LeaseRequest(LockKey.of("slots", "free"), owner, LEASE_TIME));
			List<Boolean> answers = store.renew(extensions)
				.stream()
				.map((answer) -> answer.toCompletableFuture().join())
				.toList();
			assertThat(answers.subList(0, 50)).containsOnly(true);
			assertThat(answers.get(50)).isFalse();
			assertThat(Long.parseLong(cluster.command("PTTL", "lock:{slots:7}"))).isGreaterThan(300_000);
		}
	}

	@Test
	void locksOfDifferentServersAreTakenTogetherAsWell() {
		List<LockRequest> all = IntStream.range(0, 50).mapToObj((id) -> LockRequest.of("basket", id)).toList();
		try (RedisLockStore store = new RedisLockStore(lettuce, RedisLockSettings.DEFAULTS);
				DefaultLockRegistry registry = new DefaultLockRegistry(store, RedisRegistry.withoutPolling(),
						LockListener.NO_OP)) {
			awaitConnected(store);
			try (LeaseSet lease = registry.acquireAll(all)) {
				assertThat(lease.all()).hasSize(50).allMatch(Lease::isHeld);
				assertThat(cluster.command("EXISTS", "lock:{basket:49}")).isEqualTo("1");
			}
			Awaitility.await().until(() -> cluster.command("EXISTS", "lock:{basket:49}").equals("0"));
		}
	}

	/** As long as a slot has no server, the whole cluster is down. */
	@Test
	@Tag("clock")
	void aHeldLockOutlivesAClusterThatIsDownAndOthersAreGrantedAfterwards() throws Exception {
		RedisServer node = cluster.nodeOf("lock:{stock:down}");
		String slot = node.command("CLUSTER", "KEYSLOT", "lock:{stock:down}");
		try (RedisLockStore store = new RedisLockStore(lettuce, RedisLockSettings.DEFAULTS);
				DefaultLockRegistry registry = new DefaultLockRegistry(store,
						RedisRegistry.often(Duration.ofSeconds(10)), LockListener.NO_OP)) {
			awaitConnected(store);
			Lease held = registry.acquire(LockRequest.of("stock", "down"));
			long refused = refused(node);
			node.command("CLUSTER", "DELSLOTS", slot);
			Call<Lease> other = Callers.start(() -> registry.acquire(LockRequest.of("stock", nextTo(node))));
			Awaitility.await().until(() -> refused(node) > refused + 1);
			node.command("CLUSTER", "ADDSLOTS", slot);
			long renewals = node.calls("pexpire");
			Awaitility.await().until(() -> node.calls("pexpire") > renewals);
			assertThat(held.isHeld()).isTrue();
			held.close();
			other.get().close();
		}
	}

	/** Return a key of another lock on a node. */
	private static int nextTo(RedisServer node) {
		return IntStream.iterate(0, (id) -> id + 1)
			.filter((id) -> cluster.nodeOfSlot(ClusterSlotHashUtil.calculateSlot("{stock:" + id + "}")) == node)
			.findFirst()
			.orElseThrow();
	}

	private static long refused(RedisServer node) {
		Matcher count = Pattern.compile("errorstat_CLUSTERDOWN:count=(\\d+)")
			.matcher(node.command("INFO", "errorstats"));
		return count.find() ? Long.parseLong(count.group(1)) : 0;
	}

	@Test
	@FullProfileOnly
	@Tag("clock")
	void replicasAreAskedOnTheServerOfTheLock() {
		RedisLockSettings oneReplica = new RedisLockSettings("lock:", Duration.ofHours(1), false, 1,
				Duration.ofMillis(10));
		try (RedisLockStore store = new RedisLockStore(lettuce, oneReplica)) {
			awaitConnected(store);
			for (int i = 0; i < 10; i++) {
				LockKey key = LockKey.of("replicated", i);
				assertThatIllegalStateException()
					.isThrownBy(() -> new StoreClient(store).acquire(key, OwnerToken.random(), LEASE_TIME, false))
					.withMessageContaining(" ms: 0;");
			}
		}
	}

	@Test
	@FullProfileOnly
	void aDeadWaiterAtTheHeadOfTheQueueCostsTheNextOneAMomentOnly() throws Exception {
		LockRequest request = LockRequest.of("stock", "dead-waiter");
		try (RedisLockStore one = new RedisLockStore(lettuce, RedisLockSettings.DEFAULTS);
				RedisLockStore two = new RedisLockStore(lettuce, RedisLockSettings.DEFAULTS);
				DefaultLockRegistry holder = new DefaultLockRegistry(one, RedisRegistry.withoutPolling(),
						LockListener.NO_OP);
				DefaultLockRegistry waiting = new DefaultLockRegistry(two, RedisRegistry.withoutPolling(),
						LockListener.NO_OP)) {
			Lease lease = holder.acquire(request);
			cluster.command("ZADD", "lock:{stock:dead-waiter}:queue", "2", "dead");
			Call<Boolean> waiter = Callers.start(() -> {
				waiting.acquire(request).close();
				return true;
			});
			Awaitility.await().until(() -> cluster.command("ZCARD", "lock:{stock:dead-waiter}:queue").equals("2"));
			lease.close();
			assertThat(waiter.get()).isTrue();
		}
	}

	@Nested
	@FullProfileOnly
	class WithLettuce extends StoreInCluster {

		@Override
		RedisConnectionFactory connections() {
			return lettuce;
		}

	}

	@Nested
	@FullProfileOnly
	class WithJedis extends StoreInCluster {

		@Override
		protected boolean repeatedRelease() {
			return true;
		}

		@Override
		RedisConnectionFactory connections() {
			return jedis;
		}

	}

	private abstract static class StoreInCluster extends AbstractRedisLockStoreTests {

		@Override
		protected boolean notifiesTheSecondAsWell() {
			return true;
		}

		/** Only messages from one server arrive in order. */
		@Override
		protected boolean areInOrder(LockKey one, LockKey other) {
			return cluster.nodeOfSlot(slot(one)) == cluster.nodeOfSlot(slot(other));
		}

		private static int slot(LockKey key) {
			return ClusterSlotHashUtil.calculateSlot("{" + key + "}");
		}

	}

}
