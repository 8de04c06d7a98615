// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReadWriteLock;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSetRequest;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.NameSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.LockStoreCreationException;
import io.github.lockstarter.store.LockStores;
import io.github.lockstarter.store.StoreCapabilities;
import io.github.lockstarter.store.UnknownLockStoreException;
import io.github.lockstarter.store.UnsuitableLockStoreException;

/**
 * The {@link LockRegistry} for every store, and for several of them. Each lock is kept in
 * the store that its request names, otherwise in that of its name's settings, and
 * otherwise in the default one. A store that nothing names is not used.
 */
public final class DefaultLockRegistry implements LockRegistry, AutoCloseable {

	private final LockSettings lockSettings;

	private final Engines engines;

	private final Engine standard;

	/**
	 * Create a registry with default settings and without a listener.
	 * @param store the store
	 */
	public DefaultLockRegistry(LockStore store) {
		this(store, EngineSettings.DEFAULTS, LockListener.NO_OP);
	}

	/**
	 * Create a registry for one store.
	 * @param store the store
	 * @param settings wait times, lease times and intervals
	 * @param listener called with each event; its failures do not affect the locks
	 */
	public DefaultLockRegistry(LockStore store, EngineSettings settings, LockListener listener) {
		this(store, settings, listener, Time.SYSTEM);
	}

	/**
	 * Create a registry for one store with a time of its own, for tests.
	 * @param store the store
	 * @param settings wait times, lease times and intervals
	 * @param listener called with each event; its failures do not affect the locks
	 * @param time the clock and the waits of this registry
	 */
	public DefaultLockRegistry(LockStore store, EngineSettings settings, LockListener listener, Time time) {
		this(LockStores.of(store), LockSettings.NONE, settings, listener, time);
	}

	/**
	 * Create a registry for several stores.
	 * @param stores the stores; other than the default one and those that the settings
	 * name, each is created when a request names it
	 * @param lockSettings the settings of lock names
	 * @param settings wait times, lease times and intervals, for all stores
	 * @param listener called with each event; its failures do not affect the locks
	 * @throws UnknownLockStoreException if the settings name a store that does not exist
	 * @throws LockStoreCreationException if a store that they name cannot be created
	 * @throws UnsuitableLockStoreException if the settings of a lock name ask for
	 * something that its store cannot do
	 */
	public DefaultLockRegistry(LockStores stores, LockSettings lockSettings, EngineSettings settings,
			LockListener listener) {
		this(stores, lockSettings, settings, listener, Time.SYSTEM);
	}

	/**
	 * Create a registry for several stores with a time of its own, for tests.
	 * @see #DefaultLockRegistry(LockStores, LockSettings, EngineSettings, LockListener)
	 */
	public DefaultLockRegistry(LockStores stores, LockSettings lockSettings, EngineSettings settings,
			LockListener listener, Time time) {
		this.lockSettings = lockSettings;
		this.engines = new Engines(stores, settings, listener, time);
		this.standard = this.engines.create(stores.defaultName(), "The default is", null);
		try {
			lockSettings.names().forEach((name, each) -> {
				createEngine(name, each.store());
				requireAble(stores, name, each);
			});
		}
		catch (RuntimeException ex) {
			this.engines.close();
			throw ex;
		}
	}

	private void createEngine(String name, @Nullable String store) {
		if (store == null) {
			return;
		}
		String subject = "The settings of the lock name '" + name + "' choose";
		try {
			this.engines.create(store, subject, null);
		}
		catch (UnknownLockStoreException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			throw new LockStoreCreationException(subject, store, ex);
		}
	}

	private static void requireAble(LockStores stores, String name, NameSettings settings) {
		Duration holdAtLeast = settings.holdAtLeast();
		if (holdAtLeast == null) {
			return;
		}
		String store = (settings.store() != null) ? settings.store() : stores.defaultName();
		StoreCapabilities able = StoreCapabilities.of(store, Objects.requireNonNull(stores.find(store)));
		String objection = able.objection(LockRequest.of(name).withHoldAtLeast(holdAtLeast));
		if (objection != null) {
			throw new UnsuitableLockStoreException(name, objection);
		}
	}

	@Override
	public Lease acquire(LockRequest request) {
		LockRequest complete = this.lockSettings.forLease(request);
		return engine(complete).acquire(complete);
	}

	@Override
	public Optional<Lease> tryAcquire(LockRequest request) {
		LockRequest complete = this.lockSettings.forLease(request);
		return engine(complete).tryAcquire(complete);
	}

	@Override
	public CompletableFuture<Lease> acquireAsync(LockRequest request) {
		LockRequest complete = this.lockSettings.forLease(request);
		try {
			return engine(complete).acquireAsync(complete);
		}
		catch (LockUnavailableException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	@Override
	public LeaseSet acquireAll(LockSetRequest request) {
		LockSetRequest complete = this.lockSettings.forLease(request);
		return engine(complete).acquireAll(complete);
	}

	@Override
	public Optional<LeaseSet> tryAcquireAll(LockSetRequest request) {
		try {
			return Optional.of(acquireAll(request));
		}
		catch (LockContendedException ex) {
			return Optional.empty();
		}
	}

	@Override
	public CompletableFuture<LeaseSet> acquireAllAsync(LockSetRequest request) {
		LockSetRequest complete = this.lockSettings.forLease(request);
		try {
			return engine(complete).acquireAllAsync(complete);
		}
		catch (LockUnavailableException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalArgumentException if the store has no shared locks
	 */
	@Override
	public ReadWriteLock readWriteLock(LockKey key) {
		LockRequest read = this.lockSettings.forLease(LockRequest.of(key).withMode(LockMode.READ));
		engine(read).require(read);
		return LockRegistry.super.readWriteLock(key);
	}

	@Override
	public LockSettings settings() {
		return this.lockSettings;
	}

	private Engine engine(LockRequest request) {
		String store = request.store();
		return (store == null) ? this.standard : this.engines.get(store, request.key());
	}

	private Engine engine(LockSetRequest request) {
		LockRequest first = request.requests().get(0);
		Engine engine = engine(first);
		for (LockRequest each : request.requests()) {
			Engine other = engine(each);
			if (other != engine) {
				throw new IllegalArgumentException(
						"Locks in different stores cannot be acquired together: '" + first.key() + "' is in the store '"
								+ engine.name() + "', and '" + each.key() + "' in '" + other.name() + "'");
			}
		}
		return engine;
	}

	/**
	 * Connect to the stores in use without waiting for that, and grant locks again after
	 * {@link #drain()}.
	 * @throws IllegalStateException if this registry is closed
	 */
	public void open() {
		this.engines.open();
	}

	/**
	 * Refuse new requests and end all waits, let holders finish for at most the shutdown
	 * timeout, and then stop renewing leases. No lock is released under a running body;
	 * its lease expires instead.
	 */
	public void drain() {
		this.engines.drain();
	}

	/**
	 * {@linkplain #drain() Drain} this registry if that has not been done, and end all
	 * threads.
	 */
	@Override
	public void close() {
		this.engines.close();
	}

	int activeLocks() {
		return this.engines.all().stream().mapToInt(Engine::activeLocks).sum();
	}

	/** How many actions are scheduled or under way in the background. */
	int backgroundActions() {
		return this.engines.all().stream().mapToInt(Engine::backgroundActions).sum();
	}

}
