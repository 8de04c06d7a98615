// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.lifecycle;

import java.util.Collection;

import org.springframework.context.SmartLifecycle;

import io.github.lockstarter.engine.DefaultLockRegistry;

/**
 * Drains a registry when its application stops: after the web server and message
 * listeners have stopped, and before the connections to the store close.
 */
public final class LockLifecycle implements SmartLifecycle {

	/**
	 * Phase of the lifecycle. Spring Data Redis closes its connections in phase 0. Web
	 * servers, executors and message listeners stop in much higher phases.
	 */
	public static final int PHASE = 1 << 16;

	private final Collection<DefaultLockRegistry> registries;

	private volatile boolean running;

	public LockLifecycle(Collection<DefaultLockRegistry> registries) {
		this.registries = registries;
	}

	@Override
	public void start() {
		this.registries.forEach(DefaultLockRegistry::open);
		this.running = true;
	}

	@Override
	public void stop() {
		this.registries.forEach(DefaultLockRegistry::drain);
		this.running = false;
	}

	@Override
	public void stop(Runnable callback) {
		// Other beans of this phase need not wait for the holders
		new Thread(() -> {
			try {
				stop();
			}
			finally {
				callback.run();
			}
		}, "lock-shutdown").start();
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

}
