// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.FailureReason;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;

/**
 * Releases locks in the background if a request or its answer was lost, so that no lock
 * is held by mistake. Each attempt ends when the lease has expired.
 */
final class Orphans {

	private static final Log logger = LogFactory.getLog(Orphans.class);

	private static final long MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);

	private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(250);

	private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(3);

	private final LockStore store;

	private final Timetable timetable;

	private final Executor background;

	private final Answers answers;

	private final Runnable answered;

	private final AtomicInteger pending = new AtomicInteger();

	/**
	 * Create orphans.
	 * @param background runs requests to the store
	 * @param answered called when the store answers again after a failure, which may end
	 * an outage
	 */
	Orphans(LockStore store, Timetable timetable, Executor background, Runnable answered) {
		this.store = store;
		this.timetable = timetable;
		this.background = background;
		this.answers = new Answers(timetable);
		this.answered = answered;
	}

	/**
	 * Try a failed release again, until the store has answered.
	 * @param until when the lease has expired
	 */
	void retry(LockKey key, OwnerToken owner, long until) {
		begin(new Return(key, owner, until, false));
	}

	/**
	 * Release a lock whose acquisition has an unknown outcome, repeatedly: an abandoned
	 * request may still be carried out later.
	 * @param until when the last such request has lost its effect
	 */
	void orphan(LockKey key, OwnerToken owner, long until) {
		begin(new Return(key, owner, until, true));
	}

	/**
	 * Keep a lock until a time, although its ownership has ended. If the store cannot be
	 * asked now, it is asked again until the lease expires.
	 * @return {@code false} if the owner certainly no longer holds the lock
	 */
	boolean keep(Ownership ownership, long until) {
		// Drivers refuse to wait for an answer on an interrupted thread
		boolean interrupted = Thread.interrupted();
		try {
			return keepNow(ownership, until);
		}
		catch (RuntimeException ex) {
			logger.debug("Lock '" + ownership.key() + "' could not be kept yet", ex);
			this.pending.incrementAndGet();
			this.timetable.at(this.timetable.now() + FIRST_PAUSE, () -> keepLater(ownership, until));
			return true;
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private boolean keepNow(Ownership ownership, long until) {
		CompletableFuture<Boolean> kept = this.answers.within(Answers.OWN, send(ownership, until));
		this.answers.await(kept);
		if (!kept.isDone()) {
			throw Answers.noAnswer();
		}
		boolean result = kept.join();
		returnUncertain(ownership);
		return result;
	}

	private CompletionStage<Boolean> send(Ownership ownership, long until) {
		long rest = Math.max(until - this.timetable.now(), MILLISECOND);
		return Answers
			.guarded(() -> this.store.keeping()
				.orElseThrow()
				.keep(ownership.key(), ownership.owner(), Duration.ofNanos(rest)))
			.thenApply(Answers::required);
	}

	private void returnUncertain(Ownership ownership) {
		Long uncertainUntil = ownership.uncertainUntil();
		if (uncertainUntil != null) {
			orphan(ownership.key(), ownership.owner(), uncertainUntil);
		}
	}

	private void keepLater(Ownership ownership, long until) {
		this.answers.ask(this.background, () -> send(ownership, until)).whenComplete((kept, ex) -> {
			long next = this.timetable.now() + FIRST_PAUSE;
			if (ex != null && next - ownership.deadline() < 0) {
				this.timetable.at(next, () -> keepLater(ownership, until));
				return;
			}
			if (ex != null) {
				logger.warn("Lock '" + ownership.key() + "' could not be kept for as long as requested: "
						+ FailureReason.of(ex));
			}
			else {
				returnUncertain(ownership);
				if (!kept && until - this.timetable.now() > 0) {
					logger.warn("Lock '" + ownership.key() + "' was not kept for as long as requested");
				}
			}
			this.pending.decrementAndGet();
		});
	}

	int pending() {
		return this.pending.get();
	}

	private void begin(Return orphan) {
		this.pending.incrementAndGet();
		attempt(orphan, FIRST_PAUSE, false);
	}

	private void attempt(Return orphan, long pause, boolean failedBefore) {
		this.answers.ask(this.background, () -> this.store.release(orphan.key(), orphan.owner()))
			.whenComplete((outcome, ex) -> {
				if (ex != null) {
					logger.debug("Lock '" + orphan.key() + "' could not be released yet", ex);
				}
				else if (failedBefore) {
					// A store may refuse new locks only, as a full Redis does
					this.answered.run();
				}
				long next = this.timetable.now() + pause;
				if ((ex == null && !orphan.repeated()) || next - orphan.until() >= 0) {
					this.pending.decrementAndGet();
				}
				else {
					this.timetable.at(next, () -> attempt(orphan, Math.min(2 * pause, LONGEST_PAUSE), ex != null));
				}
			});
	}

	private record Return(LockKey key, OwnerToken owner, long until, boolean repeated) {
	}

}
