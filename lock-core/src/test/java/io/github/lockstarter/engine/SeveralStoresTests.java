// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSetRequest;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.NameSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.BlockingLockStore;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.LockStores;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.UnknownLockStoreException;
import io.github.lockstarter.store.UnsuitableLockStoreException;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A registry with several stores.
 */
class SeveralStoresTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY).withWaitTime(Duration.ZERO);

	private static final LockSettings STOCK_IN_SECOND = new LockSettings(
			Map.of("stock", NameSettings.NONE.withStore("second")));

	private final LockMemory first = new LockMemory();

	private final LockMemory second = new LockMemory();

	private final CountingStores stores = new CountingStores();

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private DefaultLockRegistry registry = registry(LockSettings.NONE);

	private DefaultLockRegistry registry(LockSettings settings) {
		return new DefaultLockRegistry(this.stores, settings, EngineSettings.DEFAULTS, this.events::add);
	}

	@AfterEach
	void close() {
		this.registry.close();
	}

	/** Ways to acquire and release a lock. */
	static List<Function<LockRegistry, AutoCloseable>> acquisitions() {
		return List.of((registry) -> registry.acquire(REQUEST),
				(registry) -> registry.tryAcquire(REQUEST).orElseThrow(),
				(registry) -> registry.acquireAsync(REQUEST).join(),
				(registry) -> registry.acquireAll(LockSetRequest.of(REQUEST, LockRequest.of("stock", 2))),
				(registry) -> registry.tryAcquireAll(LockSetRequest.of(REQUEST)).orElseThrow(),
				(registry) -> registry.acquireAllAsync(LockSetRequest.of(REQUEST)).join(),
				(registry) -> locked(registry.lock(KEY)), (registry) -> locked(registry.readWriteLock(KEY).writeLock()),
				(registry) -> locked(registry.readWriteLock(KEY).readLock()));
	}

	private static AutoCloseable locked(Lock lock) {
		lock.lock();
		return lock::unlock;
	}

	@ParameterizedTest
	@MethodSource("acquisitions")
	void theSettingsOfANameChooseItsStore(Function<LockRegistry, AutoCloseable> acquisition) throws Exception {
		this.registry.close();
		this.registry = registry(STOCK_IN_SECOND);
		try (AutoCloseable lock = acquisition.apply(this.registry)) {
			assertThat(this.first.isEmpty()).isTrue();
			assertThat(this.second.isEmpty()).isFalse();
		}
		assertThat(this.second.isEmpty()).isTrue();
	}

	@Test
	void aRequestChoosesItsStoreBeforeItsName() throws Exception {
		try (Lease there = this.registry.acquire(REQUEST.withStore("second"))) {
			assertThat(this.first.isEmpty()).isTrue();
			assertThat(this.second.isEmpty()).isFalse();
			Callers.start(() -> {
				this.registry.acquire(REQUEST).close();
				return true;
			}).get();
			assertThat(Callers.start(() -> this.registry.tryAcquire(REQUEST.withStore("second"))).get()).isEmpty();
		}
		try (DefaultLockRegistry configured = registry(STOCK_IN_SECOND);
				Lease here = configured.acquire(REQUEST.withStore("first"))) {
			assertThat(this.first.isEmpty()).isFalse();
			assertThat(this.second.isEmpty()).isTrue();
		}
	}

	@Test
	void aLockIsReentrantInItsStore() {
		try (Lease outer = this.registry.acquire(REQUEST.withStore("second"));
				Lease nested = this.registry.acquire(REQUEST.withStore("second"));
				Lease other = this.registry.acquire(REQUEST)) {
			assertThat(nested.fencingToken()).isEqualTo(outer.fencingToken());
			assertThat(other.isHeld()).isTrue();
			assertThat(this.registry.activeLocks()).isEqualTo(2);
		}
	}

	@Test
	void aStoreWithTwoNamesIsOneStore() {
		LockStore store = new MemoryLockStore(this.first);
		LockStores named = LockStores.of("first", Map.of("first", store, "alias", store));
		try (DefaultLockRegistry registry = new DefaultLockRegistry(named, LockSettings.NONE, EngineSettings.DEFAULTS,
				this.events::add);
				Lease outer = registry.acquire(REQUEST);
				Lease nested = registry.acquire(REQUEST.withStore("alias"));
				LeaseSet both = registry
					.acquireAll(LockSetRequest.of(LockRequest.of("a").withStore("alias"), LockRequest.of("b")))) {
			assertThat(nested.fencingToken()).isEqualTo(outer.fencingToken());
			assertThat(both.isHeld()).isTrue();
		}
	}

	/** Instances must agree on the name, because tables of claims contain it. */
	@Test
	void theNameOfAStoreDoesNotDependOnTheNameThatIsUsedFirst() {
		LockStore store = new MemoryLockStore(this.first);
		LockStores named = LockStores.of("a", Map.of("a", new MemoryLockStore(this.second), "b", store, "c", store));
		try (DefaultLockRegistry registry = new DefaultLockRegistry(named, LockSettings.NONE, EngineSettings.DEFAULTS,
				this.events::add); Lease lease = registry.acquire(REQUEST.withStore("c"))) {
			assertThat(lease.store()).isEqualTo("b");
		}
	}

	@Test
	void anUnknownStoreIsRefused() {
		LockRequest request = REQUEST.withStore("third");
		String message = "Lock 'stock:1001' is requested in the store 'third', which does not exist. Stores: 'first'"
				+ " (the default), 'second'";
		assertThatExceptionOfType(UnknownLockStoreException.class).isThrownBy(() -> this.registry.acquire(request))
			.withMessage(message);
		assertThatExceptionOfType(UnknownLockStoreException.class).isThrownBy(() -> this.registry.acquireAsync(request))
			.withMessage(message);
		assertThatExceptionOfType(UnknownLockStoreException.class)
			.isThrownBy(() -> this.registry.tryAcquireAll(LockSetRequest.of(request)))
			.withMessage(message);
	}

	@Test
	void settingsThatNameAnUnknownStoreAreRefusedAtOnce() {
		LockSettings settings = new LockSettings(Map.of("stock", NameSettings.NONE.withStore("third")));
		assertThatExceptionOfType(UnknownLockStoreException.class).isThrownBy(() -> registry(settings))
			.withMessage("The settings of the lock name 'stock' choose the store 'third', which does not exist. Stores:"
					+ " 'first' (the default), 'second'");
	}

	@Test
	void settingsThatTheirStoreCannotFulfilAreRefusedAtOnce() {
		NameSettings kept = NameSettings.NONE.withHoldAtLeast(Duration.ofSeconds(1));
		for (NameSettings each : List.of(kept, kept.withStore("first"))) {
			start("first", each).close();
		}
		for (NameSettings each : List.of(kept, kept.withStore("plain"))) {
			assertThatExceptionOfType(UnsuitableLockStoreException.class).isThrownBy(() -> start("plain", each))
				.withMessage("The settings of the lock name 'report' do not fit its store: the lock is requested with"
						+ " 'holdAtLeast', but the lock store 'plain' cannot keep a lock after its owner has released it");
		}
		start("plain", kept.withStore("first")).close();
	}

	private static DefaultLockRegistry start(String defaultStore, NameSettings report) {
		LockStores stores = LockStores.of(defaultStore,
				Map.of("first", new MemoryLockStore(), "plain", new PlainStore()));
		return new DefaultLockRegistry(stores, new LockSettings(Map.of("report", report)), EngineSettings.DEFAULTS,
				LockListener.NO_OP);
	}

	@Test
	void aRegistryForOneStoreRefusesAllOthers() {
		try (DefaultLockRegistry registry = new DefaultLockRegistry(new MemoryLockStore(this.first))) {
			registry.acquire(REQUEST.withStore("MemoryLockStore")).close();
			assertThatExceptionOfType(UnknownLockStoreException.class)
				.isThrownBy(() -> registry.acquire(REQUEST.withStore("second")))
				.withMessageEndingWith("Stores: 'MemoryLockStore' (the default)");
		}
	}

	@Test
	void locksInDifferentStoresAreNotAcquiredTogether() {
		LockSetRequest both = LockSetRequest.of(LockRequest.of("account", 7), REQUEST.withStore("second"));
		String message = "Locks in different stores cannot be acquired together: 'account:7' is in the store 'first',"
				+ " and 'stock:1001' in 'second'";
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.acquireAll(both)).withMessage(message);
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.acquireAllAsync(both)).withMessage(message);
		this.registry.acquireAll(both.withStore("second")).close();
		assertThat(this.registry.activeLocks()).isZero();
	}

	@Test
	void aStoreThatNothingNamesIsNotUsed() {
		this.registry.acquire(REQUEST).close();
		assertThat(this.stores.found).containsExactly("first");
		this.registry.acquire(REQUEST.withStore("second")).close();
		this.registry.acquire(REQUEST.withStore("second")).close();
		assertThat(this.stores.found).containsExactly("first", "second");
	}

	@Test
	void aStoreThatCannotBeCreatedIsUnavailableUntilItCan() {
		LockRequest request = REQUEST.withStore("second");
		this.stores.failure = new IllegalStateException("no connection");
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.registry.acquire(request))
			.withMessage("Lock 'stock:1001' is unavailable: its store 'second' could not be created (no connection);"
					+ " nothing was executed");
		assertThat(this.registry.acquireAsync(request)).failsWithin(20, TimeUnit.SECONDS)
			.withThrowableThat()
			.withCauseInstanceOf(LockUnavailableException.class);
		assertThat(this.registry.acquireAllAsync(LockSetRequest.of(request))).isCompletedExceptionally();
		this.stores.failure = null;
		this.registry.acquire(request).close();
	}

	@Test
	void listenersGetTheEventsOfAllStores() {
		this.registry.acquire(REQUEST).close();
		this.registry.acquire(LockRequest.of("order").withStore("second")).close();
		assertThat(this.events).filteredOn(LockEvent.Released.class::isInstance).hasSize(2);
	}

	@Test
	void shutdownLetsTheHoldersInAllStoresFinish() throws Exception {
		List<Lease> held = new ArrayList<>(
				List.of(this.registry.acquire(REQUEST), this.registry.acquire(REQUEST.withStore("second"))));
		Call<Boolean> shutdown = Callers.start(() -> {
			this.registry.drain();
			return true;
		}).awaitParked();
		for (LockRequest request : List.of(LockRequest.of("order"), LockRequest.of("order").withStore("second"))) {
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.registry.acquire(request))
				.withMessageContaining("its registry is shutting down");
		}
		for (Lease lease : held) {
			assertThat(shutdown.result()).isNotDone();
			assertThat(lease.isHeld()).isTrue();
			lease.close();
		}
		assertThat(shutdown.get()).isTrue();
		assertThat(this.first.isEmpty() && this.second.isEmpty()).isTrue();
		this.registry.open();
		this.registry.acquire(REQUEST).close();
		this.registry.acquire(REQUEST.withStore("second")).close();
	}

	@Test
	void noStoreComesIntoUseAfterShutdown() {
		this.registry.drain();
		LockRequest request = REQUEST.withStore("second");
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.registry.acquire(request))
			.withMessageContaining("its registry is shutting down");
		CompletableFuture<Lease> future = this.registry.acquireAsync(request);
		assertThat(future).failsWithin(20, TimeUnit.SECONDS)
			.withThrowableThat()
			.withCauseInstanceOf(LockUnavailableException.class);
		this.registry.close();
		assertThatIllegalStateException().isThrownBy(() -> this.registry.open())
			.withMessageContaining("cannot be opened again");
	}

	/** Two stores, which note that they are needed. */
	private final class CountingStores implements LockStores {

		private final Map<String, LockStore> all = Map.of("first", new MemoryLockStore(SeveralStoresTests.this.first),
				"second", new MemoryLockStore(SeveralStoresTests.this.second));

		private final List<String> found = new ArrayList<>();

		private @Nullable RuntimeException failure;

		@Override
		public String defaultName() {
			return "first";
		}

		@Override
		public @Nullable LockStore find(String name) {
			if (this.failure != null) {
				throw this.failure;
			}
			this.found.add(name);
			return this.all.get(name);
		}

		@Override
		public Set<String> names() {
			return LockStores.of("first", this.all).names();
		}

	}

	private static final class PlainStore extends BlockingLockStore {

		@Override
		protected LockAttempt tryAcquire(LeaseRequest request) {
			throw new UnsupportedOperationException();
		}

		@Override
		protected boolean tryRenew(LeaseRequest request) {
			throw new UnsupportedOperationException();
		}

		@Override
		protected boolean tryRelease(LockKey key, OwnerToken owner) {
			throw new UnsupportedOperationException();
		}

	}

}
