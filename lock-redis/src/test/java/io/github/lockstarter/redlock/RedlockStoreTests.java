// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.AbstractLockStoreTests;

import static org.assertj.core.api.Assertions.assertThat;

class RedlockStoreTests extends AbstractLockStoreTests {

	@AutoClose
	private static RedlockServers servers;

	@BeforeAll
	static void start() {
		servers = RedlockServers.start(3);
	}

	@Override
	protected LockStore createStore() {
		return servers.store(AbstractRedlockTests.PATIENT);
	}

	@Override
	protected boolean sharesJvms() {
		return true;
	}

	@Override
	protected void expire(LockKey key, OwnerToken owner) {
		servers.expire(key, LEASE_TIME);
	}

	@Test
	void aLockIsFreedThoughAServerThatHadForgottenItKnowsALaterBase() {
		long base = grantAndForget();
		assertThat(this.two.client().acquire(this.key, this.other, LEASE_TIME, false))
			.isInstanceOf(AcquireResult.Refusal.class);
		mustBeFreed(base);
	}

	@Test
	void aLockIsFreedThoughItsRenewalHasTakenAServerThatHadForgottenIt() {
		long base = grantAndForget();
		assertThat(this.one.client().renew(this.key, this.owner, LEASE_TIME)).isTrue();
		mustBeFreed(base);
	}

	@Test
	void theLockOfAnotherProgramIsShownThoughItsValueIsEmpty() {
		for (int i = 0; i < 3; i++) {
			servers.get(i).command("SET", lock(), "");
		}
		LockInspection inspection = this.three.client().store().inspection().orElseThrow();
		assertThat(inspection.inspect(this.key).toCompletableFuture().join().holders())
			.containsExactly(new LockInspection.Holder("a foreign owner", LockMode.EXCLUSIVE, null, false, null));
	}

	private long grantAndForget() {
		AcquireResult attempt = this.one.client().acquire(this.key, this.owner, LEASE_TIME, false);
		await().until(() -> servers.get(0).command("DEL", lock()).equals("1"));
		return ((AcquireResult.Grant) attempt).fencingBase();
	}

	private void mustBeFreed(long base) {
		await().until(() -> Long.parseLong(servers.get(0).command("GET", lock() + ":fence")) > base);
		LockInspection inspection = this.three.client().store().inspection().orElseThrow();
		LockInspection.State state = inspection.inspect(this.key).toCompletableFuture().join();
		assertThat(inspection.free(this.key, base << 12).toCompletableFuture().join()).isTrue();
		assertThat(LockInspection.baseOf(state.fencingToken())).isEqualTo(base);
	}

	private String lock() {
		return "lock:{" + this.key + '}';
	}

}
