// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Owners of one lock while its servers are silent or restart, one after the other.
 */
@Tag("clock")
class FailingServersTests {

	private static final int INSTANCES = 2;

	private static final int THREADS = 8;

	private static final int HOLDS = 20;

	/**
	 * Callers outlast a machine that stands still, on which no server answers in time.
	 */
	private static final EngineSettings SETTINGS = new EngineSettings(Duration.ofSeconds(10), Duration.ofSeconds(30), 3,
			Duration.ofSeconds(1), Duration.ofMillis(100), Duration.ofMillis(50), Duration.ofSeconds(20),
			Duration.ofSeconds(20));

	@AutoClose
	private final RedlockServers servers = RedlockServers.start(3);

	private final AtomicInteger holders = new AtomicInteger();

	private final AtomicInteger holds = new AtomicInteger();

	private final List<Long> tokens = new ArrayList<>();

	@Test
	@FullProfileOnly
	void ownersNeverOverlapWhileOneServerAfterTheOtherIsSilent() throws Exception {
		AtomicBoolean over = new AtomicBoolean();
		Call<Void> disturbance = Callers.start(() -> {
			for (int i = 0; !over.get(); i = (i + 1) % 3) {
				disturb(this.servers.get(i), over);
			}
			return null;
		});
		try {
			compete();
		}
		finally {
			over.set(true);
		}
		disturbance.get();
		this.servers.awaitFree();
	}

	@Test
	void aHeldLockOutlivesTheRestartOfEachServer() {
		Duration leaseTime = Duration.ofSeconds(6);
		EngineSettings settings = new EngineSettings(Duration.ofSeconds(10), leaseTime, 20, Duration.ofSeconds(1),
				Duration.ofMillis(100), Duration.ofMillis(50), Duration.ofSeconds(1));
		try (RedlockStore store = this.servers.store();
				DefaultLockRegistry registry = new DefaultLockRegistry(store, settings, LockListener.NO_OP);
				Lease lease = registry.acquire(LockRequest.of(RedlockServers.KEY))) {
			for (int i = 0; i < 3; i++) {
				this.servers.restart(i);
				Awaitility.await().until(() -> this.servers.held() == 3);
				assertThat(lease.isHeld()).isTrue();
			}
		}
		this.servers.awaitFree();
	}

	private void compete() throws Exception {
		List<RedlockStore> stores = Stream.generate(this.servers::store).limit(INSTANCES).toList();
		List<DefaultLockRegistry> registries = stores.stream()
			.map((store) -> new DefaultLockRegistry(store, SETTINGS, LockListener.NO_OP))
			.toList();
		List<Call<Void>> callers = new ArrayList<>();
		for (DefaultLockRegistry registry : registries) {
			for (int i = 0; i < THREADS; i++) {
				callers.add(Callers.start(() -> hold(registry)));
			}
		}
		for (Call<Void> caller : callers) {
			caller.get();
		}
		assertThat(this.tokens).hasSize(INSTANCES * THREADS * HOLDS);
		for (int i = 1; i < this.tokens.size(); i++) {
			SafetyViolation.check(this.tokens.get(i) > this.tokens.get(i - 1), "A later token is not larger: %s",
					this.tokens);
		}
		registries.forEach(DefaultLockRegistry::close);
		stores.forEach(RedlockStore::close);
	}

	private Void hold(DefaultLockRegistry registry) {
		for (int i = 0; i < HOLDS; i++) {
			try (Lease lease = registry
				.acquire(LockRequest.of(RedlockServers.KEY).withWaitTime(Duration.ofMinutes(1)))) {
				SafetyViolation.check(this.holders.incrementAndGet() == 1, "two owners of '%s'", lease.key());
				this.tokens.add(lease.fencingToken());
				this.holds.incrementAndGet();
				Thread.yield();
				SafetyViolation.check(this.holders.decrementAndGet() == 0, "two owners of '%s'", lease.key());
			}
		}
		return null;
	}

	/** Let a server be silent until some owners have come and gone. */
	private void disturb(RedisServer server, AtomicBoolean over) {
		int enough = this.holds.get() + 10;
		server.pause();
		while (!over.get() && this.holds.get() < enough) {
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
		}
		server.resume();
	}

}
