// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.Collections;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.servers.RedisCluster;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Another server becomes the primary, while the old one keeps its connections and refuses
 * nothing.
 */
@Tag("clock")
class PlannedFailoverTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private static final LockRequest OTHER = LockRequest.of("stock", 1002);

	/** No lease is renewed within a test unless something hastens it. */
	private static final EngineSettings SETTINGS = RedisRegistry.leaseTime(Duration.ofMinutes(30), 3);

	/** Sentinel cannot demote it, however long a test takes. */
	@AutoClose
	private final RedisServer before = RedisServer.start("--rename-command", "SLAVEOF", "");

	@AutoClose
	private final RedisServer after = RedisServer.startReplicaOf(this.before);

	private final RedisStandaloneConfiguration server = RedisRegistry.server(this.before.port());

	@Test
	void aHeldLockIsRenewedAtOnceWhereTheHostOfTheApplicationHasMoved() {
		try (RedisRegistry registry = RedisRegistry.of(RedisRegistry.connections(this.server), SETTINGS)) {
			Lease held = acquire(registry);
			this.after.command("REPLICAOF", "NO", "ONE");
			this.server.setPort(this.after.port());
			assertMoved(registry, held);
		}
	}

	@Test
	void anOwnerLearnsAtOnceThatTheNewServerLacksItsLock() {
		try (RedisServer empty = RedisServer.start();
				RedisRegistry registry = RedisRegistry.of(RedisRegistry.connections(this.server), SETTINGS)) {
			Lease held = acquire(registry);
			this.server.setPort(empty.port());
			Awaitility.await().until(() -> !held.isHeld());
		}
	}

	@Test
	void anOwnerLearnsAtOnceThatItsServerWasStartedAgainEmpty() {
		try (RedisRegistry registry = RedisRegistry.of(RedisRegistry.connections(this.server), SETTINGS)) {
			Lease held = acquire(registry);
			this.before.kill();
			this.before.restart();
			Awaitility.await().until(() -> !held.isHeld());
		}
	}

	@Test
	@FullProfileOnly
	void aHeldLockIsRenewedAtOnceOnThePrimaryThatSentinelHasPromoted() {
		assertMovedBySentinel(LettuceConnectionFactory::new);
	}

	@Test
	@FullProfileOnly
	void locksFollowThePrimaryThatSentinelHasPromotedWithJedis() {
		assertMovedBySentinel(JedisConnectionFactory::new);
	}

	private void assertMovedBySentinel(Driver driver) {
		try (RedisServer sentinel = RedisServer.startSentinelOf(this.before, "shop");
				RedisRegistry registry = RedisRegistry.of(
						driver.connections(new RedisSentinelConfiguration("shop", Set.of(sentinel.address()))),
						SETTINGS)) {
			Awaitility.await().until(() -> sentinel.command("SENTINEL", "REPLICAS", "shop").contains("127.0.0.1"));
			Lease held = acquire(registry);
			Awaitility.await()
				.ignoreExceptions()
				.until(() -> sentinel.command("SENTINEL", "FAILOVER", "shop").equals("OK"));
			assertMoved(registry, held);
		}
	}

	@Test
	@FullProfileOnly
	void locksFollowThePrimaryAlsoIfTheSentinelThatTheDriverAsksLearnsOfItLast() {
		try (RedisServer last = RedisServer.startSentinelOf(this.before, "shop");
				RedisServer first = RedisServer.startSentinelOf(this.before, "shop")) {
			last.kill();
			// The driver asks them in this order
			RedisSentinelConfiguration sentinels = new RedisSentinelConfiguration().master("shop")
				.sentinel("127.0.0.1", last.port())
				.sentinel("127.0.0.1", first.port());
			try (RedisServer next = RedisServer.start();
					RedisRegistry registry = RedisRegistry.of(new LettuceConnectionFactory(sentinels), SETTINGS)) {
				registry.acquire(REQUEST);
				last.restart();
				Set<String> opened = clients(this.before);
				announce(first, next);
				// The driver is sent to the old one again
				Awaitility.await().until(() -> Collections.disjoint(clients(this.before), opened));
				Awaitility.await().until(() -> !clients(this.before).isEmpty());
				announce(last, next);
				Awaitility.await().ignoreExceptionsInstanceOf(LockLostException.class).until(() -> {
					try (Lease other = registry.acquire(OTHER)) {
						return isHeldOn(next, OTHER) && other.isHeld();
					}
				});
			}
		}
	}

	private static Set<String> clients(RedisServer server) {
		return server.command("CLIENT", "LIST", "TYPE", "normal")
			.lines()
			// Those of sentinels have names
			.filter((line) -> line.contains(" name= ") && !line.contains("cmd=client|list"))
			.map((line) -> line.substring(0, line.indexOf(' ')))
			.collect(Collectors.toSet());
	}

	private static void announce(RedisServer sentinel, RedisServer primary) {
		sentinel.command("SENTINEL", "REMOVE", "shop");
		sentinel.command("SENTINEL", "MONITOR", "shop", "127.0.0.1", String.valueOf(primary.port()), "1");
	}

	private interface Driver {

		RedisConnectionFactory connections(RedisSentinelConfiguration servers);

	}

	private Lease acquire(RedisRegistry registry) {
		Lease held = registry.acquire(REQUEST);
		Awaitility.await().until(() -> this.after.command("EXISTS", "lock:{stock:1001}").equals("1"));
		return held;
	}

	private void assertMoved(RedisRegistry registry, Lease held) {
		// One that was acquired from the old primary may be lost at its release, and
		// stays
		// there
		Awaitility.await().ignoreExceptionsInstanceOf(LockLostException.class).until(() -> {
			LockRequest request = LockRequest.of("stock", UUID.randomUUID());
			try (Lease other = registry.acquire(request)) {
				assertThat(other.isHeld()).isTrue();
				return isHeldOn(this.after, request) && !isHeldOn(this.before, request);
			}
		});
		assertThat(held.isHeld()).isTrue();
		held.close();
		Awaitility.await().until(() -> this.after.command("EXISTS", "lock:{stock:1001}").equals("0"));
	}

	private static boolean isHeldOn(RedisServer server, LockRequest request) {
		return server.command("EXISTS", "lock:{" + request.key() + "}").equals("1");
	}

	@Test
	@FullProfileOnly
	void grantsThatReplicasConfirmGoOnAfterAManualFailoverOfAClusterNode() {
		RedisLockSettings confirmed = new RedisLockSettings("lock:", Duration.ofHours(1), false, 1,
				Duration.ofSeconds(2));
		AtomicReference<Lease> lease = new AtomicReference<>();
		try (RedisCluster cluster = RedisCluster.start();
				RedisRegistry registry = RedisRegistry.of(
						new LettuceConnectionFactory(new RedisClusterConfiguration(cluster.addresses())),
						RedisRegistry.SETTINGS, confirmed)) {
			// Only now may the driver have to learn of another primary
			assertThat(registry.store().connect().toCompletableFuture()).succeedsWithin(Duration.ofMinutes(1));
			cluster.failOver("lock:{stock:1001}", () -> lease.set(registry.acquire(REQUEST)));
			assertThat(lease.get().isHeld()).isTrue();
		}
	}

	@Test
	void aNewPasswordIsUsedForTheNextConnection() {
		this.before.command("ACL", "SETUSER", "app", "on", ">old", "allkeys", "allchannels", "allcommands");
		this.server.setUsername("app");
		this.server.setPassword("old");
		try (RedisRegistry registry = RedisRegistry.of(RedisRegistry.connections(this.server), SETTINGS)) {
			registry.acquire(REQUEST).close();
			this.before.command("ACL", "SETUSER", "app", "resetpass", ">new");
			this.server.setPassword("new");
			this.before.command("CLIENT", "KILL", "USER", "app");
			registry.acquire(OTHER).close();
		}
	}

}
