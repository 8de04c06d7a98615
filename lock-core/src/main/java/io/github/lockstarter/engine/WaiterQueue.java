// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockMode;

/**
 * The waiters of a lock inside this JVM, first in first out. Guarded by the lock.
 */
final class WaiterQueue {

	/** Without memory of its own while it is empty, as it is for most locks. */
	private Set<Waiter> waiters = Collections.emptySet();

	private boolean hasLast;

	boolean isEmpty() {
		return this.waiters.isEmpty();
	}

	List<Waiter> all() {
		return List.copyOf(this.waiters);
	}

	boolean contains(Waiter waiter) {
		return this.waiters.contains(waiter);
	}

	void add(Waiter waiter) {
		if (isEmpty()) {
			this.waiters = new LinkedHashSet<>();
		}
		this.waiters.add(waiter);
	}

	private void remove(Waiter waiter) {
		this.waiters.remove(waiter);
		if (isEmpty()) {
			this.waiters = Collections.emptySet();
		}
	}

	/**
	 * Return the waiter whose turn it is. The queue must not be empty.
	 */
	Waiter first() {
		return this.waiters.iterator().next();
	}

	Waiter takeFirst() {
		Waiter first = first();
		remove(first);
		return first;
	}

	/**
	 * Return the mode of the next waiter, or {@code null} if the queue is empty.
	 */
	@Nullable LockMode nextMode() {
		return isEmpty() ? null : first().mode();
	}

	boolean hasReader() {
		return this.waiters.stream().anyMatch((waiter) -> waiter.discipline().joinsHolders());
	}

	/**
	 * Return whether all waiters before this one would join the holders of a shared lock.
	 * @param waiter one of the waiters, or one that comes
	 */
	boolean isBehindReadersOnly(Waiter waiter) {
		return this.waiters.stream()
			.takeWhile((each) -> each != waiter)
			.allMatch((each) -> each.discipline().joinsHolders());
	}

	/**
	 * Note that the next answer decides for a waiter, because its wait time is over.
	 */
	void setLast(Waiter waiter) {
		waiter.setLast();
		this.hasLast = true;
	}

	/**
	 * Note that the next answer decides for the first waiter if its wait time is over.
	 */
	void markFirstIfOutOfTime() {
		if (first().isOutOfTime()) {
			setLast(first());
		}
	}

	/**
	 * Return whether the next answer may decide for one of the waiters.
	 */
	boolean hasLast() {
		return this.hasLast;
	}

	/**
	 * Dismiss the waiters that have only waited for an answer that has come.
	 * @param denial makes their denial; called only if there may be such waiters
	 */
	Effect denyLast(Supplier<Denial> denial) {
		if (!this.hasLast) {
			return Effect.NONE;
		}
		this.hasLast = false;
		return denyAll(this.waiters.stream().filter(Waiter::isLast).toList(), denial.get());
	}

	/**
	 * Dismiss a waiter without the lock.
	 */
	Effect deny(Waiter waiter, Denial denial) {
		remove(waiter);
		waiter.settle(denial);
		return (desk) -> waiter.wake();
	}

	/**
	 * Dismiss all waiters without the lock.
	 */
	Effect denyAll(Denial denial) {
		return denyAll(all(), denial);
	}

	private Effect denyAll(List<Waiter> denied, Denial denial) {
		denied.forEach((waiter) -> {
			remove(waiter);
			waiter.settle(denial);
		});
		return Effect.wake(denied);
	}

}
