// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.Executor;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.WaitingLine;

/**
 * Keeps the places of this JVM in the lines of the store in step with its own waiters:
 * when the last waiter leaves, the place is given up.
 */
final class QueuePlaces {

	private static final Log logger = LogFactory.getLog(QueuePlaces.class);

	private final WaitingLine line;

	private final Answers answers;

	private final Executor background;

	private final Consumer<LockKey> ring;

	/** Waiters that may have a place, and places that are being taken or given up. */
	private final UnderWay underWay;

	/**
	 * Create the places of a JVM.
	 * @param background runs requests to the store
	 * @param ring makes a listening lock ask the store again
	 */
	QueuePlaces(WaitingLine line, Timetable timetable, Executor background, UnderWay underWay, Consumer<LockKey> ring) {
		this.line = line;
		this.answers = new Answers(timetable);
		this.background = background;
		this.underWay = underWay;
		this.ring = ring;
	}

	/**
	 * Note that a waiter comes. It {@link #leave(LockKey, Waiter, boolean) leaves} in any
	 * case.
	 */
	void come(Waiter waiter) {
		if (waiter.isFair()) {
			this.underWay.begin();
		}
	}

	/**
	 * Put a waiter into the line of the store under its own token. If that fails, the
	 * request for the lock puts it there.
	 */
	void enter(LockKey key, Waiter waiter) {
		LinePlace place = waiter.place();
		OwnerToken token = waiter.token();
		if (!place.beginEntering()) {
			return;
		}
		this.underWay.begin();
		Answers.guarded(() -> this.line.enter(key, token)).whenComplete((entered, ex) -> {
			if (ex != null) {
				logger.debug("Could not join the line of lock '" + key + "' yet", ex);
			}
			if (place.endEntering()) {
				giveUp(key, token);
			}
			this.underWay.end();
		});
	}

	/**
	 * Give up the place of a waiter that has one of its own.
	 * @param granted whether the store has granted it the lock
	 */
	void leave(LockKey key, Waiter waiter, boolean granted) {
		if (!waiter.isFair()) {
			return;
		}
		if (waiter.place().leave(granted)) {
			giveUp(key, waiter.token());
		}
		this.underWay.end();
	}

	/**
	 * Give up the place of this JVM in the line of a lock without waiters here. If it was
	 * notified that the lock is free, another JVM is notified instead.
	 */
	void leave(LockKey key) {
		giveUp(key, null);
	}

	/**
	 * Give up a place. One that is left behind because the store has failed is given up
	 * when it is its turn and nobody waits here, or when this JVM is gone.
	 * @param owner the token of the waiter that has it, or {@code null} for that of this
	 * JVM
	 */
	void giveUp(LockKey key, @Nullable OwnerToken owner) {
		this.underWay.begin();
		this.answers
			.ask(this.background, () -> (owner != null) ? this.line.withdraw(key, owner) : this.line.withdraw(key))
			.whenComplete((left, ex) -> {
				this.underWay.end();
				if (ex != null) {
					logger.debug("Could not leave the line of lock '" + key + "'", ex);
				}
				// A waiter that came in the meantime has lost the place as well, and must
				// ask again
				this.ring.accept(key);
			});
	}

}
