// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;

/**
 * What one registry of this instance holds and waits for at a moment, for people and
 * tools.
 *
 * @param held the holds, the longest first
 * @param waiting the waiters, the one that waits longest first
 */
public record LocalState(List<Held> held, List<Waiting> waiting) {

	private static final int LONGEST_TEXT = 100;

	private static final String LIBRARY = "io.github.lockstarter.";

	static LocalState of(Collection<LocalLock> locks) {
		List<Held> held = new ArrayList<>();
		List<Waiting> waiting = new ArrayList<>();
		for (LocalLock lock : locks) {
			LocalLock.Users users = lock.users();
			users.holds().forEach((each) -> held.add(held(each)));
			users.waiters().forEach((each) -> waiting.add(waiting(lock.key(), each, users.holder())));
		}
		held.sort(Comparator.comparing(Held::held).reversed());
		waiting.sort(Comparator.comparing(Waiting::waited).reversed());
		return new LocalState(List.copyOf(held), List.copyOf(waiting));
	}

	private static Held held(Hold hold) {
		Ownership ownership = hold.ownership();
		long remaining = hold.remainingNanos();
		boolean lost = hold.isLost() || ownership.isLost() || remaining <= 0;
		Status status = lost ? Status.LOST : ownership.isSuspect() ? Status.SUSPECT : Status.HELD;
		return new Held(hold.key(), hold.mode(), hold.fencingToken(), nameOf(hold.owner()), hold.duration(),
				lost ? Duration.ZERO : Duration.ofNanos(remaining), ownership.renewals(), status);
	}

	private static Waiting waiting(LockKey key, Waiter waiter, @Nullable String holder) {
		return new Waiting(key, waiter.mode(), nameOf(waiter.owner()), waiter.waited(), waiter.left(), holder);
	}

	/**
	 * Return the name of a thread, or the text of an owner of this library or of one that
	 * is a text or a number of Java, in one line. Another one is named by its class,
	 * because its text may be personal data, and the code that makes it may block.
	 */
	static String nameOf(Object owner) {
		if (owner instanceof Thread thread) {
			return thread.getName().isEmpty() ? "thread #" + thread.getId() : LockKey.inOneLine(thread.getName());
		}
		String type = owner.getClass().getName();
		boolean plain = type.startsWith("java.")
				&& (owner instanceof CharSequence || owner instanceof Number || owner instanceof UUID);
		if (plain || type.startsWith(LIBRARY)) {
			String text = owner.toString();
			return LockKey.inOneLine((text.length() > LONGEST_TEXT) ? text.substring(0, LONGEST_TEXT) + "…" : text);
		}
		return type.substring(type.lastIndexOf('.') + 1);
	}

	/**
	 * A lock that is held by this instance.
	 *
	 * @param key which lock
	 * @param mode its mode
	 * @param fencingToken the token of the lease
	 * @param owner the name of the thread that acquired it, or what stands for another
	 * owner
	 * @param held for how long it has been held
	 * @param remaining how long the lease lasts, unless it is renewed, as far as this
	 * instance knows; zero if it is lost
	 * @param renewals how often the lease was renewed since the store granted the lock
	 * @param status how certain that is
	 */
	public record Held(LockKey key, LockMode mode, long fencingToken, String owner, Duration held, Duration remaining,
			long renewals, Status status) {
	}

	/**
	 * How certain it is that a lock is held.
	 */
	public enum Status {

		/** Granted, and renewed or looked up in time. */
		HELD,

		/** The last renewal or look-up failed, but the lease has not expired yet. */
		SUSPECT,

		/** Lost, and its owner has not ended yet. */
		LOST

	}

	/**
	 * A request of this instance for a lock.
	 *
	 * @param key which lock
	 * @param mode in which mode
	 * @param owner the name of the thread that waits, or what stands for another owner
	 * @param waited for how long it has waited
	 * @param left how much of its wait time is left, or {@code null} if it waits for ever
	 * @param holder the instance that held the lock at the last answer of the store, or
	 * {@code null} if it is not known
	 */
	public record Waiting(LockKey key, LockMode mode, String owner, Duration waited, @Nullable Duration left,
			@Nullable String holder) {
	}

}
