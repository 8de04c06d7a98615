// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.test.AbstractLockStoreTests;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The example store meets the contract, and is the one in the documentation.
 */
class MapLockStoreTests extends AbstractLockStoreTests {

	private static final Path SOURCE = Path.of("src/test/java/io/github/lockstarter/store/MapLockStore.java");

	private final ManualTime time = new ManualTime();

	private final MapLockStore store = new MapLockStore(this.time);

	@Override
	protected LockStore createStore() {
		return this.store;
	}

	@Override
	protected void expire(LockKey key, OwnerToken owner) {
		this.time.advance(LEASE_TIME);
	}

	@Override
	protected boolean isOnRealClock() {
		return false;
	}

	@Test
	void theDocumentationShowsIt() throws Exception {
		String source = Files.readString(SOURCE);
		String shown = source.substring(source.indexOf("import "));
		assertThat(Files.readString(Path.of("..", "docs", "writing-a-store.md")))
			.contains("```java\n" + shown + "```\n");
	}

}
