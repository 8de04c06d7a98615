// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.github.lockstarter.redis.Voter;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Several owners that ask for one lock at nearly the same time, in simulated time.
 */
class CandidacyTests {

	private static final int RUNS = 500;

	private static final long NEARLY_THE_SAME_TIME = TimeUnit.MILLISECONDS.toNanos(3);

	private static final long POLL = TimeUnit.MILLISECONDS.toNanos(100);

	/** So long that no owner gives up because of it. */
	private static final Duration LONG = Duration.ofHours(1);

	private static final RedlockSettings SETTINGS = RedlockServers.nodeTimeout(LONG);

	private final AtomicLong attempts = new AtomicLong();

	private final List<Long> grants = new ArrayList<>();

	private final List<Long> refusals = new ArrayList<>();

	private long longest;

	@ParameterizedTest
	@CsvSource({ "3,0,2", "3,0,3", "3,0,8", "3,1,2", "3,1,3", "3,1,8", "5,0,3", "5,0,8", "5,2,3", "5,2,8" })
	void ofOwnersThatAskAtNearlyTheSameTimeOneIsGrantedSoon(int number, int silent, int owners) {
		for (int seed = 0; seed < RUNS; seed++) {
			SimulatedServers servers = servers(number, silent, seed);
			this.grants.clear();
			this.refusals.clear();
			for (int i = 0; i < owners; i++) {
				begin(servers);
			}
			servers.run();
			assertThat(this.grants).as("grants with seed " + seed).hasSize(1);
			assertThat(this.refusals).hasSize(owners - 1);
			this.longest = Math.max(this.longest, this.grants.get(0));
		}
		assertThat(this.longest).isLessThan(TimeUnit.MILLISECONDS.toNanos(100));
	}

	/** The owner that is gone has the vote of the server that owners ask first. */
	@Test
	void aVoteOfAnOwnerThatIsGoneKeepsNobodyFromTheLock() {
		for (int seed = 0; seed < RUNS; seed++) {
			SimulatedServers servers = servers(3, 0, seed);
			servers.leave(0);
			this.grants.clear();
			for (int i = 0; i < 3; i++) {
				poll(servers, servers.connect());
			}
			servers.run();
			assertThat(this.grants).as("grants with seed " + seed).hasSize(1);
			this.longest = Math.max(this.longest, this.grants.get(0));
		}
		assertThat(this.longest).isLessThan(TimeUnit.SECONDS.toNanos(2));
	}

	private static SimulatedServers servers(int number, int silent, long seed) {
		SimulatedServers servers = new SimulatedServers(number, seed);
		for (int i = 0; i < silent; i++) {
			servers.silence((int) ((seed + i) % number));
		}
		return servers;
	}

	private void begin(SimulatedServers servers) {
		List<Voter> connections = servers.connect();
		servers.within(NEARLY_THE_SAME_TIME, () -> ask(servers, connections, () -> this.refusals.add(servers.now())));
	}

	/** Ask for the lock at intervals until an owner has it. */
	private void poll(SimulatedServers servers, List<Voter> connections) {
		servers.within(POLL, () -> ask(servers, connections, () -> {
			if (this.grants.isEmpty()) {
				poll(servers, connections);
			}
		}));
	}

	private void ask(SimulatedServers servers, List<Voter> connections, Runnable refused) {
		LeaseRequest request = new LeaseRequest(RedlockServers.KEY, OwnerToken.random(), LONG.multipliedBy(3));
		new Candidacy(connections, SETTINGS, this.attempts::incrementAndGet, request, servers).begin()
			.whenComplete((attempt, ex) -> note(attempt, servers, refused));
	}

	private void note(AcquireResult attempt, SimulatedServers servers, Runnable refused) {
		if (attempt instanceof AcquireResult.Grant) {
			this.grants.add(servers.now());
		}
		else {
			refused.run();
		}
	}

}
