// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three servers, and two instances that ask for the same lock.
 */
abstract class AbstractRedlockTests {

	static final LockKey KEY = RedlockServers.KEY;

	static final Duration LEASE_TIME = Duration.ofMinutes(30);

	static final RedlockSettings PATIENT = RedlockServers.nodeTimeout(Duration.ofSeconds(10));

	/** Who waits for a server that does not answer never ends. */
	static final RedlockSettings ENDLESS = RedlockServers.nodeTimeout(Duration.ofMinutes(10));

	/** Only to end a test that hangs. */
	static final Duration PATIENCE = Duration.ofMinutes(1);

	@AutoClose
	final RedlockServers servers = RedlockServers.start(3);

	final RedlockStore store = this.servers.store(ENDLESS);

	final StoreClient one = new StoreClient(this.store);

	final RedlockStore otherStore = this.servers.store(ENDLESS);

	final StoreClient two = new StoreClient(this.otherStore);

	final OwnerToken owner = OwnerToken.random();

	final OwnerToken other = OwnerToken.random();

	@AfterEach
	void close() {
		this.store.close();
		this.otherStore.close();
	}

	static long grant(StoreClient client, OwnerToken owner) {
		AcquireResult attempt = acquire(client, owner);
		assertThat(attempt).isInstanceOf(AcquireResult.Grant.class);
		return ((AcquireResult.Grant) attempt).fencingBase();
	}

	static void mustNotGet(StoreClient client, OwnerToken owner) {
		AcquireResult attempt = acquire(client, owner);
		SafetyViolation.check(attempt instanceof AcquireResult.Refusal, "%s while another owner has the lock", attempt);
	}

	static AcquireResult acquire(StoreClient client, OwnerToken owner) {
		return ask(client.store(), owner).join();
	}

	static CompletableFuture<AcquireResult> ask(LockStore store, OwnerToken owner) {
		return store.acquire(new LeaseRequest(KEY, owner, LEASE_TIME), false)
			.toCompletableFuture()
			.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS);
	}

	void grantEverywhere() {
		grant(this.one, this.owner);
		Awaitility.await().until(() -> this.servers.held() == 3);
	}

}
