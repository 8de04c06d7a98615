// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.test.AbstractLockStoreTests;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.ManualClock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The example store meets the contract, and is the one in the documentation.
 */
class MapLockStoreTests extends AbstractLockStoreTests {

	private static final Path SOURCE = Path.of("src/test/java/io/github/lockstarter/store/MapLockStore.java");

	private final ManualClock clock = new ManualClock();

	private final MapLockStore store = new MapLockStore(this.clock);

	@Override
	protected LockStore createStore() {
		return this.store;
	}

	@Override
	protected long nanoTime() {
		return this.clock.getAsLong();
	}

	@Override
	protected void letTimePass() {
		this.clock.advance(Duration.ofMillis(60));
	}

	@Test
	void instancesTakeTurns() throws Exception {
		LockRequest request = LockRequest.of("stock", 1001);
		MapLockStore shared = new MapLockStore(System::nanoTime);
		try (DefaultLockRegistry one = new DefaultLockRegistry(shared, EngineSettings.DEFAULTS, LockListener.NO_OP);
				DefaultLockRegistry two = new DefaultLockRegistry(shared, EngineSettings.DEFAULTS,
						LockListener.NO_OP)) {
			Lease lease = one.acquire(request);
			Call<Long> waiter = Callers.start(() -> {
				try (Lease next = two.acquire(request)) {
					return next.fencingToken();
				}
			}).awaitParked();
			lease.close();
			assertThat(waiter.get()).isGreaterThan(lease.fencingToken());
		}
	}

	@Test
	void theDocumentationShowsIt() throws Exception {
		String source = Files.readString(SOURCE);
		String shown = source.substring(source.indexOf("import "));
		assertThat(Files.readString(Path.of("..", "docs", "stores.md"))).contains("```java\n" + shown + "```\n");
	}

}
