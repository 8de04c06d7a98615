// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.test.StoreClient;

/**
 * The instances of an application that share a memory of locks, on a time that moves only
 * on demand. Register it as an extension in a field; it closes its registries after each
 * test, without waiting. <pre class="code">
 * &#64;RegisterExtension
 * final ManualInstances instances = new ManualInstances();
 *
 * final DefaultLockRegistry registry = this.instances.registry();
 *
 * final DefaultLockRegistry other = this.instances.registry();
 * </pre> To move a test from the real clock to it:
 * <ul>
 * <li>Where a lease expires or is renewed, {@code time.advance(…)} by exactly that time
 * takes the place of the wait.</li>
 * <li>Where the thread of the test waits in vain, or shuts a registry down,
 * {@code time.letPass(() -> …)} lets time pass for this call.</li>
 * <li>Where another thread waits, {@code time.awaitParked(1)} makes sure that it does,
 * before time is moved or the lock is released. Then get its result.</li>
 * <li>A store that answers late advances the time while it is asked:
 * {@code store.acquire.loseAnswers(() -> …)}.</li>
 * <li>What the registry does on other threads (callbacks, futures, releases in the
 * background) is done when {@code time.advance(…)} returns; elsewhere
 * {@code time.settle()} waits for it, in place of Awaitility or a latch.</li>
 * <li>Leases and wait times are whole seconds, and what a caller has waited is
 * exact.</li>
 * </ul>
 */
public final class ManualInstances implements AfterEachCallback {

	public final ManualTime time = new ManualTime();

	public final LockMemory memory = new LockMemory(this.time);

	private final List<DefaultLockRegistry> registries = new CopyOnWriteArrayList<>();

	/**
	 * Return a store of another instance, which fails on demand.
	 */
	public FaultInjectingStore store() {
		return new FaultInjectingStore(new MemoryLockStore(this.memory));
	}

	/**
	 * Return the registry of another instance.
	 */
	public DefaultLockRegistry registry() {
		return registry(store());
	}

	/**
	 * Return the registry of another instance.
	 */
	public DefaultLockRegistry registry(LockStore store) {
		return registry(store, LockListener.NO_OP);
	}

	/**
	 * Return the registry of another instance.
	 */
	public DefaultLockRegistry registry(LockStore store, LockListener listener) {
		return registry(store, EngineSettings.DEFAULTS, listener);
	}

	/**
	 * Return the registry of another instance.
	 */
	public DefaultLockRegistry registry(LockStore store, EngineSettings settings, LockListener listener) {
		DefaultLockRegistry registry = new DefaultLockRegistry(store, settings, listener, this.time);
		this.registries.add(registry);
		return registry;
	}

	/**
	 * Let another instance hold a lock without renewing it.
	 * @return its token, to release the lock
	 */
	public OwnerToken holdElsewhere(LockKey key, Duration leaseTime) {
		OwnerToken owner = OwnerToken.random();
		new StoreClient(new MemoryLockStore(this.memory)).acquire(key, owner, leaseTime, false);
		return owner;
	}

	/**
	 * Let that instance release the lock.
	 */
	public void releaseElsewhere(LockKey key, OwnerToken owner) {
		new StoreClient(new MemoryLockStore(this.memory)).release(key, owner);
	}

	@Override
	public void afterEach(ExtensionContext context) {
		this.time.letPass(() -> this.registries.forEach(DefaultLockRegistry::close));
	}

}
