// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;

/**
 * Warns of locks that are held or waited for longer than expected. It has no timer: it is
 * asked where a lock is looked at anyway. Of many warnings it prints a few each minute,
 * and says how many it has left out.
 */
final class Warnings {

	private static final Log logger = LogFactory.getLog(Warnings.class);

	static final int MOST_PER_MINUTE = 10;

	private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

	private static final int MOST_FRAMES = 30;

	private final Duration afterWait;

	private final Duration afterHold;

	private final Time time;

	/** When the current minute has begun. Guarded by this. */
	private long minute;

	/** Guarded by this. */
	private int printed;

	/** Guarded by this. */
	private int leftOut;

	Warnings(EngineSettings settings, Time time) {
		this.afterWait = settings.warnAfterWait();
		this.afterHold = settings.warnAfterHold();
		this.time = time;
	}

	/**
	 * Return how many warnings of a hold are due by now: the first one at the threshold,
	 * and a further one each time that its length has doubled.
	 */
	int dueOf(Hold hold) {
		if (this.afterHold.isZero()) {
			return 0;
		}
		long times = hold.duration().toNanos() / this.afterHold.toNanos();
		return Long.SIZE - Long.numberOfLeadingZeros(times);
	}

	/**
	 * Return whether a warning may be due of a hold, or of those who have waited since it
	 * began.
	 */
	boolean mayBeDue(Hold hold) {
		long nanos = hold.duration().toNanos();
		return isDue(nanos, this.afterHold) || isDue(nanos, this.afterWait);
	}

	/**
	 * Return whether a waiter has waited for so long that a warning is due.
	 * @param now the current time
	 */
	boolean isDue(Waiter waiter, long now) {
		return isDue(now - waiter.start(), this.afterWait);
	}

	private static boolean isDue(long nanos, Duration threshold) {
		return !threshold.isZero() && nanos >= threshold.toNanos();
	}

	/**
	 * Return when to warn again of the wait for a lock: not before it has doubled, and at
	 * most once a minute, whoever waits then.
	 */
	long nextWarning(Waiter waiter) {
		return this.time.now() + Math.max(waiter.waited().toNanos(), MINUTE);
	}

	/**
	 * Warn of a hold, with where its thread is now.
	 */
	void longHold(Hold hold) {
		if (!hold.isOver()) {
			print(() -> "Long hold of lock '" + hold.key() + "' ("
					+ ((hold.mode() != LockMode.EXCLUSIVE) ? hold.mode() + ", " : "") + "fencing token "
					+ hold.fencingToken() + "): " + owner(hold.owner()) + " has held it for " + text(hold.duration())
					+ (hold.isLimited() ? ", and it ends by itself in " + text(hold.remainingNanos()) : "") + ". "
					+ whereabouts(hold));
		}
	}

	/**
	 * Warn of the first waiter of a lock.
	 * @param waiters how many wait in this instance
	 * @param holder a hold of this instance, or {@code null} if there is none
	 * @param refusal what is known about the owner otherwise
	 */
	void longWait(LockKey key, Waiter waiter, int waiters, @Nullable Hold holder, AcquireResult.Refusal refusal) {
		print(() -> "Long wait for lock '" + key + "': " + owner(waiter.owner()) + " has waited "
				+ text(waiter.waited()) + ((waiters > 1) ? " as the first of " + waiters + " in this instance" : "")
				+ ". It is held by " + holder(holder, refusal));
	}

	private static String holder(@Nullable Hold hold, AcquireResult.Refusal refusal) {
		if (hold != null && !hold.isOver()) {
			return owner(hold.owner()) + " of this instance (fencing token " + hold.fencingToken() + "), for "
					+ text(hold.duration());
		}
		String holder = refusal.holder();
		if (holder == null) {
			return "another owner";
		}
		Duration remaining = refusal.remaining();
		return holder + ((remaining != null) ? ", whose lease ends in " + text(remaining) + " unless renewed" : "");
	}

	private static String owner(Object owner) {
		return (owner instanceof Thread) ? "thread '" + LocalState.nameOf(owner) + "'" : LocalState.nameOf(owner);
	}

	/**
	 * Return where the thread of a hold is now, with its stack.
	 */
	static String whereabouts(Hold hold) {
		if (!(hold.owner() instanceof Thread thread)) {
			return "Its work is not complete, or its lease was never closed";
		}
		StackTraceElement[] frames = thread.getStackTrace();
		// A lease that is meant to expire need not be closed
		String forgotten = hold.isLimited() ? "" : ", or its lease was never closed";
		if (frames.length == 0) {
			return "The thread has ended: another one goes on with the work" + forgotten;
		}
		return (isIdle(frames) ? "The thread waits for work: another one goes on with this one" + forgotten + ":"
				: "The thread is at:")
				+ Arrays.stream(frames)
					.limit(MOST_FRAMES)
					.map((frame) -> "\n\tat " + frame)
					.collect(Collectors.joining());
	}

	/** The threads of most pools wait for work in a method of such a name. */
	private static boolean isIdle(StackTraceElement[] frames) {
		return Arrays.stream(frames)
			.map((frame) -> frame.getClassName() + '.' + frame.getMethodName())
			.anyMatch((name) -> name.endsWith("ThreadPoolExecutor.getTask") || name.endsWith("ForkJoinPool.awaitWork"));
	}

	private static String text(Duration time) {
		return text(time.toNanos());
	}

	private static String text(long nanos) {
		long millis = TimeUnit.NANOSECONDS.toMillis(Math.max(0, nanos));
		return (millis >= 10_000) ? (millis / 1000) + " s" : millis + " ms";
	}

	private void print(Supplier<String> warning) {
		String addition = admit();
		if (addition != null) {
			logger.warn(warning.get() + addition);
		}
	}

	/**
	 * Return what to add to a warning, or {@code null} to leave it out.
	 */
	private synchronized @Nullable String admit() {
		long now = this.time.now();
		if (this.printed == 0 || now - this.minute >= MINUTE) {
			this.minute = now;
			this.printed = 0;
		}
		if (this.printed == MOST_PER_MINUTE) {
			this.leftOut++;
			return null;
		}
		String addition = (this.leftOut > 0)
				? "\n(warnings of long holds and waits left out before this one: " + this.leftOut + ")" : "";
		this.leftOut = 0;
		this.printed++;
		return (this.printed < MOST_PER_MINUTE) ? addition
				: addition + "\n(further warnings of long holds and waits are left out until the minute is over)";
	}

}
