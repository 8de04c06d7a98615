// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.event.CompositeLockListener;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.LockStores;
import io.github.lockstarter.store.UnknownLockStoreException;

/**
 * One engine for each store in use. All of them open and drain together, within one
 * shutdown timeout.
 */
final class Engines {

	private final LockStores stores;

	private final EngineSettings settings;

	private final LockListener listener;

	private final Time time;

	private final Map<String, Engine> byName = new ConcurrentHashMap<>();

	private final List<Engine> all = new CopyOnWriteArrayList<>();

	/** Guarded by this. */
	private boolean refusing;

	Engines(LockStores stores, EngineSettings settings, LockListener listener, Time time) {
		this.stores = stores;
		this.time = time;
		this.settings = settings;
		this.listener = new CompositeLockListener(List.of(listener));
	}

	/**
	 * Return the engine for a lock.
	 * @param name the name of the store that keeps the lock
	 * @param key the lock
	 * @throws UnknownLockStoreException if there is no such store
	 * @throws LockUnavailableException if the store is not in use yet and cannot be
	 * created
	 */
	Engine get(String name, LockKey key) {
		Engine engine = this.byName.get(name);
		if (engine != null) {
			return engine;
		}
		try {
			return create(name, "Lock '" + key + "' is requested in", key);
		}
		catch (UnknownLockStoreException | LockUnavailableException ex) {
			throw ex;
		}
		catch (RuntimeException ex) {
			throw new LockUnavailableException(key,
					"its store '" + name + "' could not be created (" + RootCause.messageOf(ex) + ")", ex);
		}
	}

	/**
	 * Return the engine for a store, and create both if they do not exist.
	 * @param subject what names the store, for the message if there is no such store
	 * @param key the lock that is waiting for the engine, or {@code null}
	 */
	Engine create(String name, String subject, @Nullable LockKey key) {
		requireNotRefusing(key);
		// Outside of the monitor, because it may need the locks of an application context
		LockStore store = this.stores.find(name);
		if (store == null) {
			throw new UnknownLockStoreException(subject, name, this.stores);
		}
		return this.byName.computeIfAbsent(name, (unused) -> engineOf(name, store, key));
	}

	/** A store with two names has one engine: its locks must be reentrant. */
	private synchronized Engine engineOf(String name, LockStore store, @Nullable LockKey key) {
		for (Engine engine : this.all) {
			if (engine.isOf(store)) {
				return engine;
			}
		}
		requireNotRefusing(key);
		Engine engine = new Engine(this.stores.canonicalName(name), store, this.settings, this.listener, this.time);
		this.all.add(engine);
		return engine;
	}

	private synchronized void requireNotRefusing(@Nullable LockKey key) {
		if (this.refusing && key != null) {
			throw new LockUnavailableException(key, "its registry is shutting down", null);
		}
	}

	void publish(LockEvent event) {
		this.listener.onEvent(event);
	}

	List<Engine> all() {
		return this.all;
	}

	/**
	 * Grant locks again after {@link #drain()}.
	 * @throws IllegalStateException if the engines are closed
	 */
	synchronized void open() {
		if (this.all.stream().anyMatch(Engine::isClosed)) {
			throw new IllegalStateException("A closed registry cannot be opened again: create a new one");
		}
		this.refusing = false;
		this.all.forEach(Engine::open);
	}

	/**
	 * Refuse new requests and end all waits, let holders finish for at most the shutdown
	 * timeout, and then stop renewing leases.
	 */
	void drain() {
		refuse();
		Duration timeout = this.settings.shutdownTimeout();
		long deadline = this.time.now() + timeout.toNanos();
		this.all.forEach((engine) -> engine.awaitHolders(timeout, deadline));
		this.all.forEach((engine) -> engine.stopRenewing(timeout));
	}

	/** Each engine is either refused here, or not created any more. */
	private void refuse() {
		synchronized (this) {
			this.refusing = true;
		}
		this.all.forEach(Engine::refuse);
	}

	void close() {
		if (!isRefusing()) {
			drain();
		}
		this.all.forEach(Engine::close);
	}

	private synchronized boolean isRefusing() {
		return this.refusing;
	}

}
