// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.StoreServers;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;

class ServersTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private final ManualTime time = new ManualTime();

	private final List<Runnable> lookups = new ArrayList<>();

	private final StoreServers known = new StoreServers() {

		@Override
		public Object of(LockKey key) {
			return ServersTests.this.server.get();
		}

		@Override
		public @Nullable Runnable lookup() {
			return ServersTests.this.lookup;
		}

	};

	private final Servers servers = new Servers(this.known, this.time, this.lookups::add);

	private @Nullable Runnable lookup = () -> this.calls++;

	private Supplier<Object> server = () -> this.calls;

	private int calls;

	@Test
	void aStoreThatKnowsItsServersIsNotAsked() {
		this.lookup = null;
		assertThat(this.servers.of(KEY)).isEqualTo(0);
		assertThat(this.lookups).isEmpty();
	}

	@Test
	void looksUpOnAnotherThreadNowAndThen() {
		for (int second = 0; second < 30; second++) {
			this.servers.of(KEY);
			this.lookups.forEach(Runnable::run);
			this.lookups.clear();
			this.time.advance(Duration.ofSeconds(1));
		}
		assertThat(this.calls).isEqualTo(3);
		assertThat(this.servers.of(KEY)).isEqualTo(3);
	}

	@Test
	void aFailingLookUpFailsNothingAndIsRepeatedLater() {
		this.lookup = () -> {
			throw new IllegalStateException("it is a test");
		};
		assertThat(this.servers.of(KEY)).isEqualTo(0);
		this.lookups.remove(0).run();
		assertThat(this.servers.of(KEY)).isEqualTo(0);
		assertThat(this.lookups).isEmpty();
		this.time.advance(Duration.ofSeconds(10));
		this.servers.of(KEY);
		assertThat(this.lookups).hasSize(1);
	}

	@Test
	void aServerThatIsNotKnownFailsNothing() {
		this.server = () -> {
			throw new IllegalStateException("it is a test");
		};
		assertThat(this.servers.of(KEY)).isNotNull();
		this.server = () -> {
			throw new InternalError("it is a test");
		};
		assertThat(this.servers.of(KEY)).isNotNull();
		this.server = () -> null;
		assertThat(this.servers.of(KEY)).isNotNull();
	}

	@Test
	void aMachineWithoutAThreadForALookUpFailsNothing() {
		Servers exhausted = new Servers(this.known, this.time, (task) -> {
			throw new OutOfMemoryError("unable to create native thread");
		});
		assertThat(exhausted.of(KEY)).isNotNull();
	}

}
