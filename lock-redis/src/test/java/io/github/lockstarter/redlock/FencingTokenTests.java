// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.redis.RedisVoter;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Fencing bases that grow, whatever clocks, servers and other owners do.
 */
class FencingTokenTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(30);

	@AutoClose
	private final RedlockServers servers = RedlockServers.start(3);

	/**
	 * Owners with wrong clocks reach different majorities, and others fail after they
	 * have asked a single server. A later base is larger only because a base is written
	 * to a majority before it is granted.
	 */
	@Test
	void theyGrowInAnyInterleavingOfOwnersWithWrongClocks() {
		long seed = new Random().nextLong();
		Random random = new Random(seed);
		List<AtomicLong> clocks = new ArrayList<>();
		List<RedlockStore> stores = new ArrayList<>();
		List<RedisVoter> voters = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			AtomicLong clock = new AtomicLong();
			clocks.add(clock);
			stores.add(new RedlockStore(allBut(i), AbstractRedlockTests.PATIENT, clock::get));
			voters.add(new RedisVoter(RedlockServers.connections(this.servers.port(i)).get(0), "lock:",
					Duration.ofHours(1), Duration.ofSeconds(10)));
		}
		List<Long> bases = new ArrayList<>(List.of(0L));
		for (int step = 0; step < 400; step++) {
			int actor = random.nextInt(3);
			clocks.get(actor).addAndGet(random.nextInt(5) == 0 ? random.nextInt(100) : 0);
			if (random.nextInt(4) == 0) {
				failAfterOneServer(actor, voters.get(actor), random.nextInt(200));
			}
			else {
				long base = acquireAndRelease(new StoreClient(stores.get(actor)));
				assertThat(base).as("seed %d, after %s", seed, bases).isGreaterThan(bases.get(bases.size() - 1));
				bases.add(base);
			}
		}
		stores.forEach(RedlockStore::close);
		voters.forEach(RedisVoter::close);
	}

	private List<LettuceConnectionFactory> allBut(int unreachable) {
		int[] ports = { this.servers.port(0), this.servers.port(1), this.servers.port(2) };
		ports[unreachable] = RedlockServers.NOBODY;
		return RedlockServers.connections(ports);
	}

	private void failAfterOneServer(int index, RedisVoter server, long base) {
		server.acquire(new LeaseRequest(RedlockServers.KEY, OwnerToken.random(), LEASE_TIME), base).join();
		this.servers.get(index).command("DEL", RedlockServers.LOCK);
	}

	@Test
	void theyGrowWhenOneServerAfterTheOtherIsRestartedEmpty() {
		try (RedlockStore store = this.servers.store(AbstractRedlockTests.PATIENT)) {
			StoreClient client = new StoreClient(store);
			long last = acquireAndRelease(client);
			for (int i = 0; i < 12; i++) {
				this.servers.restart(i % 3);
				long base = acquireAndRelease(client);
				assertThat(base).isGreaterThan(last);
				last = base;
				awaitAllServers(client);
			}
		}
	}

	/** Wait until the store has reached the server that was restarted. */
	private void awaitAllServers(StoreClient client) {
		Awaitility.await().until(() -> {
			OwnerToken owner = OwnerToken.random();
			client.acquire(RedlockServers.KEY, owner, LEASE_TIME, false);
			client.renew(RedlockServers.KEY, owner, LEASE_TIME);
			long held = this.servers.held();
			client.release(RedlockServers.KEY, owner);
			return held == 3;
		});
	}

	private static long acquireAndRelease(StoreClient client) {
		OwnerToken owner = OwnerToken.random();
		AcquireResult.Grant grant = (AcquireResult.Grant) client.acquire(RedlockServers.KEY, owner, LEASE_TIME, false);
		client.release(RedlockServers.KEY, owner);
		return grant.fencingBase();
	}

}
