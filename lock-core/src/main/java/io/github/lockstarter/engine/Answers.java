// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.store.LockStore;

/**
 * The answers of a store that may violate its contract: that throws, or gives none. A
 * lock that waited for such an answer would be blocked for ever.
 */
final class Answers {

	private static final Log logger = LogFactory.getLog(Answers.class);

	/**
	 * How long a caller without time waits for its own answer, which alone tells
	 * contention from an outage.
	 */
	static final Duration OWN = Duration.ofMillis(500);

	/** Longer than any driver should try to connect. */
	static final Duration CONNECTION = Duration.ofMinutes(1);

	/** When a request is given up: a store should end it within a few seconds. */
	static final Duration LONGEST = Duration.ofSeconds(10);

	/**
	 * Longer than a request to a healthy store takes that blocks its thread. A caller
	 * that has less time lets another thread make the request.
	 */
	static final Duration BLOCKING = Duration.ofSeconds(3);

	private final Timetable timetable;

	Answers(Timetable timetable) {
		this.timetable = timetable;
	}

	/**
	 * Ask the store.
	 * @return the answer, which fails if the store throws or has no answer; its value may
	 * still be {@code null}, because a further stage for each lock would be needed to
	 * check it
	 */
	static <T> CompletableFuture<T> guarded(Supplier<? extends @Nullable CompletionStage<T>> request) {
		try {
			CompletionStage<T> answer = request.get();
			return (answer != null) ? answer.toCompletableFuture() : CompletableFuture.failedFuture(noAnswer());
		}
		catch (Throwable ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * Return the value of an answer, which must not be {@code null}.
	 */
	static <T> T required(@Nullable T value) {
		if (value == null) {
			throw noAnswer();
		}
		return value;
	}

	static IllegalStateException noAnswer() {
		return new IllegalStateException("The store has given no answer");
	}

	/**
	 * Return for how long a grant or a renewal counts at most.
	 */
	static Duration longestLease(LockStore store) {
		try {
			return Objects.requireNonNull(store.longestLease());
		}
		catch (Throwable ex) {
			logger.debug("A grant of unknown length does not count", ex);
			return Duration.ZERO;
		}
	}

	/**
	 * Ask the store in the background.
	 * @param threads where the request may block, if it does
	 * @return the answer, on a thread that may ask the store again
	 */
	<T> CompletableFuture<T> ask(Executor threads, Supplier<? extends @Nullable CompletionStage<T>> request) {
		CompletableFuture<T> answer = new CompletableFuture<>();
		threads.execute(() -> within(LONGEST, guarded(request)).whenComplete((value, ex) -> {
			if (ex != null) {
				answer.completeExceptionally(ex);
			}
			else {
				answer.complete(value);
			}
		}));
		return answer;
	}

	/**
	 * Return an answer that fails if it does not come in time.
	 */
	<T> CompletableFuture<T> within(Duration time, CompletionStage<T> answer) {
		CompletableFuture<T> given = answer.toCompletableFuture();
		if (given.isDone()) {
			return given;
		}
		CompletableFuture<T> limited = new CompletableFuture<>();
		Timetable.Entry end = this.timetable.at(this.timetable.now() + time.toNanos(),
				() -> limited.completeExceptionally(noAnswer()));
		given.whenComplete((value, ex) -> {
			this.timetable.cancel(end);
			if (ex != null) {
				limited.completeExceptionally(ex);
			}
			else {
				limited.complete(value);
			}
		});
		return limited;
	}

	/**
	 * Wait for an answer on the current thread. An interrupt ends the wait, and its flag
	 * stays set.
	 */
	void await(CompletableFuture<?> answer) {
		Thread current = Thread.currentThread();
		if (!answer.isDone()) {
			answer.whenComplete((value, ex) -> this.timetable.time().unpark(current));
		}
		while (!answer.isDone() && !current.isInterrupted()) {
			this.timetable.time().parkUntil(this, this.timetable.now() + Waiter.ENDLESS);
		}
	}

}
