// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.servers.Network;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Networks that delay or lose requests and answers.
 */
class RedlockNetworkTests extends AbstractRedlockTests {

	@Test
	void aLateSuccessOfARefusedOwnerIsReleased() throws Exception {
		try (Network slow = Network.to(this.servers.port(2)); RedlockStore late = slowTo(slow)) {
			grantEverywhere();
			this.servers.get(2).command("DEL", RedlockServers.LOCK);
			slow.holdBack(this.other.value());
			mustNotGet(new StoreClient(late), this.other);
			long before = this.servers.get(2).calls("del");
			slow.awaitHeld();
			slow.letGo();
			Awaitility.await().until(() -> this.servers.get(2).calls("del") > before);
			assertThat(this.servers.held()).isEqualTo(2);
		}
	}

	@Test
	void aWithdrawalThatDoesNotArriveIsRepeated() throws Exception {
		try (Network network = Network.to(this.servers.port(2)); RedlockStore late = slowTo(network)) {
			grantEverywhere();
			this.servers.get(2).command("DEL", RedlockServers.LOCK);
			network.holdBack(this.other.value());
			this.servers.get(1).pause();
			CompletableFuture<AcquireResult> attempt = ask(late, this.other);
			network.awaitHeld();
			network.disconnect();
			this.servers.get(1).resume();
			assertThat(attempt).succeedsWithin(PATIENCE).isInstanceOf(AcquireResult.Refusal.class);
			network.letGo();
			Awaitility.await().until(() -> this.servers.held() == 3);
			network.heal();
			Awaitility.await().until(() -> this.servers.held() == 2);
		}
	}

	@Test
	void aReleaseThatDoesNotArriveIsRepeated() throws Exception {
		try (Network network = Network.to(this.servers.port(2)); RedlockStore beyond = slowTo(network)) {
			StoreClient client = new StoreClient(beyond);
			grant(client, this.owner);
			Awaitility.await().until(() -> this.servers.held() == 3);
			network.disconnect();
			assertThat(client.release(KEY, this.owner)).isTrue();
			assertThat(this.servers.held()).isEqualTo(1);
			network.heal();
			this.servers.awaitFree();
		}
	}

	@Test
	void aCutOffServerDecidesForNobody() throws Exception {
		try (Network network = Network.to(this.servers.port(2)); RedlockStore beyond = slowTo(network)) {
			StoreClient cutOff = new StoreClient(beyond);
			network.cut();
			long base = grant(cutOff, this.owner);
			mustNotGet(this.two, this.other);
			assertThat(cutOff.renew(KEY, this.owner, LEASE_TIME)).isTrue();
			assertThat(cutOff.release(KEY, this.owner)).isTrue();
			long next = grant(this.two, this.other);
			SafetyViolation.check(next > base, "base %s after %s", next, base);
			network.heal();
			// The late requests of the first owner harm nobody
			mustNotGet(cutOff, OwnerToken.random());
			assertThat(this.two.renew(KEY, this.other, LEASE_TIME)).isTrue();
			assertThat(this.two.release(KEY, this.other)).isTrue();
			this.servers.awaitFree();
		}
	}

	/** The first connections of a JVM take longer than a request. */
	@Test
	@Tag("clock")
	void theFirstConnectionsAreAwaited() {
		try (Network first = Network.to(this.servers.port(0)); Network second = Network.to(this.servers.port(1))) {
			first.cut();
			second.cut();
			try (RedlockStore late = new RedlockStore(
					RedlockServers.connections(first.port(), second.port(), this.servers.port(2)), ENDLESS);
					DefaultLockRegistry registry = new DefaultLockRegistry(late)) {
				CompletableFuture<?> connected = late.connect().toCompletableFuture();
				assertThat(connected).isNotDone();
				first.heal();
				assertThat(connected).succeedsWithin(PATIENCE);
				registry.acquire(LockRequest.of(KEY).withWaitTime(Duration.ZERO)).close();
				second.heal();
			}
		}
	}

	/**
	 * The servers execute all requests, but only one of them can tell the owner.
	 */
	@Test
	@Tag("clock")
	void anOwnerWithoutTheAnswersOfAMajorityKeepsNothing() throws Exception {
		try (Network first = Network.to(this.servers.port(0));
				Network second = Network.to(this.servers.port(1));
				RedlockStore deaf = new RedlockStore(
						RedlockServers.connections(first.port(), second.port(), this.servers.port(2)),
						RedlockServers.SETTINGS)) {
			connect(deaf);
			long before = this.servers.get(0).calls("del");
			first.cutAnswers();
			second.cutAnswers();
			assertThat(ask(deaf, this.owner)).failsWithin(PATIENCE)
				.withThrowableThat()
				.withMessageContaining("but only 1 could vote");
			Awaitility.await().until(() -> this.servers.get(0).calls("del") > before);
			this.servers.awaitFree();
			grant(this.two, this.other);
			first.heal();
			second.heal();
			mustNotGet(new StoreClient(deaf), OwnerToken.random());
			assertThat(this.two.release(KEY, this.other)).isTrue();
			this.servers.awaitFree();
		}
	}

	@Test
	@Tag("clock")
	void answersThatComeTooLateGrantNothing() {
		Duration roundTrip = Duration.ofMillis(300);
		try (Network first = Network.to(this.servers.port(0), roundTrip);
				Network second = Network.to(this.servers.port(1), roundTrip);
				Network third = Network.to(this.servers.port(2), roundTrip);
				RedlockStore distant = new RedlockStore(
						RedlockServers.connections(first.port(), second.port(), third.port()),
						RedlockServers.nodeTimeout(roundTrip.dividedBy(3)))) {
			assertThat(ask(distant, this.owner)).failsWithin(PATIENCE)
				.withThrowableThat()
				.withMessageContaining("A majority of the 3 Redis servers is needed, but only 0 could vote");
			// The connections keep the order: acquired, and released at once
			Awaitility.await().until(() -> this.servers.get(0).calls("del") > 0);
			this.servers.awaitFree();
		}
	}

	/**
	 * A store on a busy machine may have been created before it has reached all servers.
	 */
	private void connect(RedlockStore store) {
		StoreClient client = new StoreClient(store);
		Awaitility.await().ignoreExceptions().until(() -> {
			client.acquire(KEY, this.owner, LEASE_TIME, false);
			client.renew(KEY, this.owner, LEASE_TIME);
			return this.servers.held() == 3;
		});
		client.release(KEY, this.owner);
		this.servers.awaitFree();
	}

	private RedlockStore slowTo(Network network) {
		return new RedlockStore(RedlockServers.connections(this.servers.port(0), this.servers.port(1), network.port()),
				ENDLESS);
	}

}
