// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LockStore;

import static io.github.lockstarter.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LockAssertionsTests {

	private static final LockKey STOCK = LockKey.of("stock", 1001);

	private static final LockKey ORDER = LockKey.of("order", 7);

	private final RecordingLockListener recorded = new RecordingLockListener();

	@Test
	void whatHasHappenedPasses() {
		acquire(ORDER);
		acquire(STOCK);
		this.recorded.onEvent(new LockEvent.Released(STOCK, LockMode.EXCLUSIVE, "memory", 1, Duration.ZERO));
		this.recorded.onEvent(new LockEvent.Lost(ORDER, LockMode.EXCLUSIVE, "memory", 1, "expired"));
		this.recorded.onEvent(new LockEvent.Contended(ORDER, LockMode.EXCLUSIVE, "memory", Duration.ZERO, null));
		LockAssertions.assertThat(this.recorded)
			.hasAcquired("stock", 1001)
			.hasNotAcquired("stock", 1002)
			.hasAcquiredInOrder(ORDER, STOCK)
			.hasReleased("stock", 1001)
			.hasLost("order", 7)
			.hasFailedToAcquire("order", 7);
		assertThat(this.recorded.keys(LockEvent.Acquired.class)).containsExactly(ORDER, STOCK);
		this.recorded.clear();
		assertThat(this.recorded.events()).isEmpty();
	}

	@Test
	void aLockMayHaveNoKey() {
		LockKey report = LockKey.of("report");
		LockAssertions.assertThat(this.recorded).hasNotAcquired(report);
		acquire(report);
		this.recorded.onEvent(new LockEvent.Released(report, LockMode.EXCLUSIVE, "memory", 1, Duration.ZERO));
		this.recorded.onEvent(new LockEvent.Lost(report, LockMode.EXCLUSIVE, "memory", 1, "expired"));
		this.recorded.onEvent(new LockEvent.Contended(report, LockMode.EXCLUSIVE, "memory", Duration.ZERO, null));
		LockAssertions.assertThat(this.recorded)
			.hasAcquired(report)
			.hasReleased(report)
			.hasLost(report)
			.hasFailedToAcquire(report);
		assertFails(() -> LockAssertions.assertThat(this.recorded).hasNotAcquired(report), "Lock 'report' should not");
	}

	@Test
	void aRegistryWithoutSpringTellsAListener() {
		LockStore store = new MemoryLockStore();
		LockListener listener = this.recorded;
		try (DefaultLockRegistry registry = new DefaultLockRegistry(store, EngineSettings.DEFAULTS, listener)) {
			registry.acquire(LockRequest.of(STOCK)).close();
		}
		LockAssertions.assertThat(this.recorded).hasAcquired(STOCK).hasReleased(STOCK);
	}

	@Test
	void whatHasNotHappenedFailsWithWhatHas() {
		assertFails(() -> LockAssertions.assertThat(this.recorded).hasAcquired("stock", 1001),
				"Lock 'stock:1001' should have been acquired, but nothing has happened to any lock");
		acquire(STOCK);
		acquire(ORDER);
		assertFails(() -> LockAssertions.assertThat(this.recorded).hasReleased("stock", 1001),
				"should have been released; this has happened: Acquired 'stock:1001', Acquired 'order:7'");
		assertFails(() -> LockAssertions.assertThat(this.recorded).hasNotAcquired("stock", 1001),
				"Lock 'stock:1001' should not have been acquired");
		assertFails(() -> LockAssertions.assertThat(this.recorded).hasAcquiredInOrder(ORDER, STOCK),
				"[order:7, stock:1001] should have been acquired in this order, but these were: [stock:1001, order:7]");
	}

	@Test
	void aLockIsHeldOnlyInItsBody() {
		TestLease.of(STOCK).run(() -> {
			TestLease.of(ORDER).run(() -> {
				assertThatLock("stock", 1001).isHeldHere();
				assertThatLock(ORDER).isHeldHere();
			});
			assertFails(() -> assertThatLock(ORDER).isHeldHere(), "but these are: [stock:1001]");
			assertFails(() -> assertThatLock(STOCK).isNotHeldHere(), "'stock:1001' should not be held");
		});
		assertThatLock(STOCK).isNotHeldHere();
	}

	private void acquire(LockKey key) {
		this.recorded.onEvent(new LockEvent.Acquired(key, LockMode.EXCLUSIVE, "memory", 1, Duration.ZERO));
	}

	private static void assertFails(Runnable assertion, String message) {
		assertThatExceptionOfType(AssertionError.class).isThrownBy(assertion::run).withMessageContaining(message);
	}

}
