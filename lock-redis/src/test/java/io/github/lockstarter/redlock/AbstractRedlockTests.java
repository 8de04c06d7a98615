// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.Place;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three servers, and two instances that ask for the same lock.
 */
abstract class AbstractRedlockTests {

	static final LockKey KEY = RedlockServers.KEY;

	static final Duration LEASE_TIME = Duration.ofSeconds(30);

	/** So long that no test that waits for it ends in time. */
	static final RedlockSettings PATIENT = RedlockServers.nodeTimeout(Duration.ofSeconds(10));

	static final Duration AT_ONCE = Duration.ofSeconds(9);

	@AutoClose
	final RedlockServers servers = RedlockServers.start(3);

	final RedlockStore store = this.servers.store(PATIENT);

	final StoreClient one = new StoreClient(this.store);

	final RedlockStore otherStore = this.servers.store(PATIENT);

	final StoreClient two = new StoreClient(this.otherStore);

	final OwnerToken owner = OwnerToken.random();

	final OwnerToken other = OwnerToken.random();

	@AfterEach
	void close() {
		this.store.close();
		this.otherStore.close();
	}

	static long grant(StoreClient client, OwnerToken owner) {
		LockAttempt attempt = acquire(client, owner);
		assertThat(attempt).isInstanceOf(LockGrant.class);
		return ((LockGrant) attempt).fencingBase();
	}

	static LockAttempt acquire(StoreClient client, OwnerToken owner) {
		return client.acquire(KEY, owner, LEASE_TIME, false);
	}

	static CompletableFuture<LockAttempt> ask(RedlockStore store, OwnerToken owner) {
		return store.acquire(new LeaseRequest(KEY, owner, LEASE_TIME), Place.NONE)
			.toCompletableFuture()
			.orTimeout(AT_ONCE.toSeconds(), TimeUnit.SECONDS);
	}

	void grantEverywhere() {
		grant(this.one, this.owner);
		Awaitility.await().until(() -> this.servers.held() == 3);
	}

}
