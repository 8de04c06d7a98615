// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.OwnerToken;

/**
 * A series of requests to the store under one owner token, so that the next request finds
 * a grant whose answer was lost. If the first waiter leaves, the attempt continues for
 * the next one. Guarded by its lock.
 */
final class Attempt {

	private static final long FIRST_RETRY = TimeUnit.MILLISECONDS.toNanos(50);

	private static final long LONGEST_RETRY = TimeUnit.SECONDS.toNanos(1);

	private final OwnerToken token;

	private final Waiter beginner;

	private final Duration leaseTime;

	private volatile long askedAt;

	private volatile long answerTime = Waiter.ENDLESS;

	private volatile long sentAt;

	private volatile boolean sent;

	private volatile boolean inLine;

	private volatile boolean polling;

	private int refusals;

	private @Nullable Long uncertainUntil;

	private long retryPause = FIRST_RETRY;

	/**
	 * Begin an attempt.
	 * @param beginner the waiter on whose behalf the store is asked first
	 */
	Attempt(Waiter beginner) {
		this.beginner = beginner;
		this.leaseTime = beginner.leaseTime();
		this.token = beginner.isFair() ? beginner.token() : beginner.newToken();
	}

	OwnerToken token() {
		return this.token;
	}

	LockMode mode() {
		return this.token.mode();
	}

	Duration leaseTime() {
		return this.leaseTime;
	}

	/**
	 * Return whether the attempt was begun on behalf of a waiter.
	 */
	boolean isFor(Waiter waiter) {
		return waiter == this.beginner;
	}

	/**
	 * Return whether its grant is for a waiter.
	 */
	boolean suits(Waiter waiter) {
		return isFor(waiter) || waiter.suits(mode(), this.leaseTime);
	}

	/**
	 * Note that the next request is wanted, while no other one is under way.
	 */
	void want(long now) {
		this.askedAt = now;
		this.sentAt = now;
	}

	/**
	 * Note that the next request is made, which may have to wait for a thread.
	 * @param answerTime for how long waiters without time wait for its answer
	 */
	void ask(long now, Duration answerTime) {
		want(now);
		this.answerTime = answerTime.toNanos();
		this.sent = true;
	}

	long askedAt() {
		return this.askedAt;
	}

	/**
	 * Return whether the answer takes so long that the store seems not to answer.
	 */
	boolean isSlow(long now) {
		return this.sent && now - this.askedAt >= this.answerTime / 5 * 2;
	}

	/**
	 * Return when waiters without time no longer wait for the answer.
	 */
	long overdueAt() {
		return this.askedAt + this.answerTime;
	}

	boolean isOverdue(long now) {
		return this.sent && now - overdueAt() >= 0;
	}

	/**
	 * Note that a request is being sent, while no other one is under way.
	 * @param inLine whether it puts this JVM, or the waiter, into the line of the store
	 * @param polling whether no message would tell the waiter of a release
	 */
	void send(long sentAt, boolean inLine, boolean polling) {
		this.sentAt = sentAt;
		this.inLine = inLine;
		this.polling = polling;
		this.sent = true;
	}

	boolean isSent() {
		return this.sent;
	}

	long sentAt() {
		return this.sentAt;
	}

	boolean isInLine() {
		return this.inLine;
	}

	/**
	 * Return whether waiters poll, because no message tells them of a release.
	 */
	boolean isPolling() {
		return this.polling;
	}

	/**
	 * Return how many requests were refused.
	 */
	int refusals() {
		return this.refusals;
	}

	/**
	 * Note that the last request was refused.
	 */
	void refused() {
		this.refusals++;
		this.retryPause = FIRST_RETRY;
	}

	/**
	 * Note that the last request has no answer, and may be carried out later.
	 */
	void failed() {
		this.uncertainUntil = this.sentAt + this.leaseTime.toNanos();
	}

	/**
	 * Note until when a request may have an effect.
	 */
	void uncertainUntil(long until) {
		this.uncertainUntil = until;
	}

	/**
	 * Note that a request has been granted that was given up before.
	 */
	void grantedLate(long now) {
		this.uncertainUntil = now + this.leaseTime.toNanos();
	}

	/**
	 * Return until when a request without an answer may take effect, or {@code null} if
	 * there is none.
	 */
	@Nullable Long uncertainUntil() {
		return this.uncertainUntil;
	}

	/**
	 * Return the pause before the next request, longer each time.
	 */
	long nextRetryPause() {
		long pause = this.retryPause;
		this.retryPause = Math.min(2 * pause, LONGEST_RETRY);
		return pause;
	}

}
