// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.memory;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.WaitingLine;
import io.github.lockstarter.test.AbstractLockStoreTests;
import io.github.lockstarter.test.ManualClock;

import static org.assertj.core.api.Assertions.assertThat;

class MemoryLockStoreTests extends AbstractLockStoreTests {

	private final ManualClock clock = new ManualClock();

	private final LockMemory memory = new LockMemory(this.clock);

	@Test
	void noTestIsSkippedForWhatItDeclares() {
		MemoryLockStore store = new MemoryLockStore();
		assertThat(store.modes()).containsExactlyInAnyOrder(LockMode.values());
		assertThat(store.keeping()).isPresent();
		assertThat(store.groupGrant()).isPresent();
		assertThat(store.waitingLine()).isNotSameAs(WaitingLine.NONE);
		assertThat(store.mayBlock()).isFalse();
	}

	@Override
	protected LockStore createStore() {
		return new MemoryLockStore(this.memory);
	}

	@Override
	protected long nanoTime() {
		return this.clock.getAsLong();
	}

	@Override
	protected void letTimePass() {
		this.clock.advance(Duration.ofMillis(60));
	}

}
