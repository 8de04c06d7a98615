// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.testkit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.test.RecordingLockListener;

import static io.github.lockstarter.test.LockAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

class WarehouseTests {

	private final ManualTime time = new ManualTime();

	private final LockMemory memory = new LockMemory(this.time);

	private final RecordingLockListener events = new RecordingLockListener();

	private final DefaultLockRegistry registry = registry(this.events);

	private final DefaultLockRegistry elsewhere = registry(new RecordingLockListener());

	private final Ledger ledger = mock();

	private final Warehouse warehouse = new Warehouse(new LockTemplate(this.registry), this.ledger);

	private DefaultLockRegistry registry(RecordingLockListener events) {
		return new DefaultLockRegistry(new MemoryLockStore(this.memory), EngineSettings.DEFAULTS, events, this.time);
	}

	@AfterEach
	void close() {
		this.registry.close();
		this.elsewhere.close();
	}

	@Test
	void bothProductsAreLockedInTheOrderOfTheirNumbers() {
		this.warehouse.exchange(1002, 1001);
		assertThat(this.events).hasAcquiredInOrder(LockKey.of("stock", 1001), LockKey.of("stock", 1002));
	}

	@Test
	void nothingIsExchangedWhileAnotherInstanceHoldsOneOfThem() {
		try (Lease other = this.elsewhere.acquire(LockRequest.of("stock", 1002))) {
			this.time.letPass(() -> assertThatExceptionOfType(LockContendedException.class)
				.isThrownBy(() -> this.warehouse.exchange(1002, 1001)));
		}
		verify(this.ledger, never()).write(anyLong(), anyLong());
	}

}
