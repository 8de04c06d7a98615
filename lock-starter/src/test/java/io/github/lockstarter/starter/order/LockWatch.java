// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.order;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import org.awaitility.Awaitility;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;

/**
 * A lock of the tests, and what happened to it and to its neighbours in which order.
 */
class LockWatch implements LockListener {

	private final LockKey key;

	private final List<String> steps = new CopyOnWriteArrayList<>();

	LockWatch(LockKey key) {
		this.key = key;
	}

	/**
	 * Acquire the lock for another owner. A method without a wait time that requests the
	 * lock then fails.
	 */
	Lease heldByAnother(LockRegistry registry) {
		Lease held = registry.acquire(LockRequest.of(this.key).withOwner(new Object()));
		forget();
		return held;
	}

	@Override
	public void onEvent(LockEvent event) {
		// That a lock is acquired late has tests of its own
		if (event.key().equals(this.key) && !(event instanceof LockEvent.Late)) {
			this.steps.add(event.getClass().getSimpleName().toLowerCase(Locale.ROOT));
		}
	}

	void add(String step) {
		this.steps.add(step);
	}

	/**
	 * Add a step, and another one when the transaction of the caller ends.
	 */
	void addInTransaction(String step) {
		add(step);
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public int getOrder() {
				return HIGHEST_PRECEDENCE;
			}

			@Override
			public void afterCompletion(int status) {
				add((status == STATUS_COMMITTED) ? "committed" : "rolled back");
			}

		});
	}

	/**
	 * Wait for a release on another thread, which would otherwise appear in the next
	 * test.
	 */
	void awaitRelease(int count) {
		Awaitility.await().until(() -> this.steps.stream().filter("released"::equals).count() == count);
	}

	/**
	 * Wait until threads wait for locks.
	 */
	void awaitWaiters(int count) {
		Awaitility.await()
			.until(() -> Thread.getAllStackTraces().values().stream().filter(LockWatch::isWaiting).count() == count);
	}

	private static boolean isWaiting(StackTraceElement[] stack) {
		return Stream.of(stack)
			.anyMatch((frame) -> frame.getClassName().startsWith("io.github.lockstarter.engine.ThreadWaiter"));
	}

	List<String> steps() {
		return this.steps;
	}

	void forget() {
		this.steps.clear();
	}

}
