// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.UnusableStoreException;

/**
 * The requests of a lock to the store on behalf of its first waiter: one at a time, and
 * between two of them the lock listens. Guarded by the lock.
 */
final class Inquiry {

	private final LockKey key;

	private final Terms terms;

	private final WaiterQueue queue;

	private final Patience patience;

	private final Listening listening;

	private @Nullable Attempt attempt;

	private boolean asking;

	private @Nullable Tenure own;

	private LockAttempt.Refusal refusal = Denial.NOTHING_KNOWN;

	private long refusedAt;

	/** What this JVM owes to others while they poll for the lock. */
	private @Nullable Courtesy courtesy;

	/** When the next warning may come, if there was one. */
	private @Nullable Long nextWarning;

	/** The last waiter that stood first in the line of the store, and got no message. */
	private @Nullable Waiter untold;

	/** Whether this JVM may stand in the line of the store. */
	private boolean inLine;

	Inquiry(LockKey key, Terms terms, WaiterQueue queue) {
		this.key = key;
		this.terms = terms;
		this.queue = queue;
		this.patience = new Patience(terms);
		this.listening = new Listening(key);
		this.courtesy = terms.unpark(key);
	}

	LockKey key() {
		return this.key;
	}

	boolean isAsking() {
		return this.asking;
	}

	/**
	 * Return whether an answer is under way. Before the first connection, none is.
	 */
	boolean isSent() {
		return this.asking && this.attempt != null && this.attempt.isSent();
	}

	boolean isListening() {
		return this.listening.isUnderWay();
	}

	boolean hasFailed() {
		return this.attempt != null && this.attempt.failure() != null;
	}

	/**
	 * Return whether the answer under way is worth waiting for: it is not overdue, and
	 * there is no outage.
	 */
	boolean awaitsAnswer() {
		return isAnswerDue() && this.patience.denial() == null;
	}

	/**
	 * Return whether an answer is under way that is not overdue.
	 */
	boolean isAnswerDue() {
		return this.asking && (this.attempt == null || !this.attempt.isOverdue(this.terms.now()));
	}

	/**
	 * Return whether the first connection is not open yet, for which everybody waits.
	 */
	boolean isConnecting() {
		return this.asking && !isSent();
	}

	/**
	 * Return the denial for a waiter whose wait time ends before its turn.
	 */
	Denial denial() {
		boolean slow = this.asking && this.attempt != null && this.attempt.isSlow(this.terms.now());
		Denial denial = this.patience.denial();
		if (denial != null) {
			return denial;
		}
		return slow ? Denial.unavailable(WellBehavedStore.noAnswer()) : contended();
	}

	/**
	 * Return the denial that names the owner of the lock, as far as it is known.
	 */
	Denial contended() {
		Tenure own = this.own;
		if (own != null) {
			Duration remaining = Duration.ofNanos(Math.max(0, own.remainingNanos()));
			return Denial.contended(new LockAttempt.Refusal(remaining, own.owner().toString()));
		}
		Duration remaining = this.refusal.remaining();
		if (remaining == null) {
			return Denial.contended(this.refusal);
		}
		Duration left = remaining.minusNanos(this.terms.now() - this.refusedAt);
		return Denial
			.contended(new LockAttempt.Refusal(left.isNegative() ? Duration.ZERO : left, this.refusal.holder()));
	}

	/**
	 * Note which tenure this JVM has, or that it has none any more.
	 */
	void setOwn(@Nullable Tenure own) {
		this.own = own;
		this.refusal = Denial.NOTHING_KNOWN;
	}

	/**
	 * Ask on behalf of the first waiter, but leave the lock free for others before if
	 * they have to poll for it, and the waiter has the time.
	 */
	Effect ask() {
		Waiter head = this.queue.first();
		long pause = (this.courtesy != null && !head.isOutOfTime()) ? this.courtesy.pause(this.terms.now()) : 0;
		if (pause > 0) {
			return this.listening.begin((desk) -> pause);
		}
		Duration leaseTime = this.terms.leaseTimeFor(head);
		Effect before = this.listening.end();
		if (this.attempt == null || !this.attempt.suits(head, leaseTime)) {
			before = before.and(dropAttempt());
			this.attempt = new Attempt(head, leaseTime);
		}
		this.queue.markFirstIfOutOfTime();
		this.asking = true;
		this.listening.forget();
		Attempt asking = this.attempt;
		asking.want(this.terms.now());
		return before.and((desk) -> desk.ask(this.key, asking, head));
	}

	/**
	 * Ask by an attempt for several locks in one step, begun elsewhere.
	 */
	void reserve(Attempt attempt) {
		this.attempt = attempt;
		this.asking = true;
	}

	void abandon() {
		this.attempt = null;
		this.asking = false;
	}

	/**
	 * Note that the store has granted the lock.
	 * @return whether the grant suits the first waiter; the waiter that asked may have
	 * left
	 */
	boolean granted(Attempt attempt) {
		answered();
		if (attempt.isInLine()) {
			this.courtesy = null;
		}
		else if (attempt.isPolling() || this.courtesy != null) {
			courtesy().granted(this.terms.now());
		}
		this.inLine = false;
		this.attempt = null;
		return !this.queue.isEmpty() && attempt.suits(this.queue.first(), this.terms.leaseTimeFor(this.queue.first()));
	}

	/**
	 * The answer is overdue: nobody without time waits for it any more.
	 */
	Effect overdue(Attempt attempt) {
		boolean current = this.asking && this.attempt == attempt && attempt.isOverdue(this.terms.now());
		return current ? this.queue.denyLast(() -> Denial.unavailable(WellBehavedStore.noAnswer())) : Effect.NONE;
	}

	/**
	 * The store has granted a request that was given up.
	 * @return whether the attempt is still under way, so that its next request finds the
	 * grant, or its end gives it back
	 */
	boolean grantedLate(Attempt attempt) {
		attempt.grantedLate(this.terms.now());
		return this.attempt == attempt;
	}

	/** The store has granted the lock, but the lease expired before the answer came. */
	Effect grantedTooLate(Attempt attempt) {
		answered();
		this.inLine = false;
		RuntimeException late = new IllegalStateException(
				"the store granted it later than its lease of " + attempt.leaseTime().toMillis() + " ms");
		attempt.failed(late);
		attempt.uncertainUntil(this.terms.now() + attempt.leaseTime().toNanos());
		if (!this.queue.isEmpty() && attempt.isFor(this.queue.first())) {
			this.queue.first().renewToken();
			this.queue.markFirstIfOutOfTime();
		}
		return dropAttempt().and(this.queue.denyLast(() -> Denial.late(late))).and(proceed());
	}

	Effect refused(Attempt attempt, LockAttempt.Refusal refusal) {
		answered();
		attempt.refused();
		if (attempt.isPolling()) {
			courtesy().refused(this.terms.now());
		}
		noteLine(attempt);
		this.refusal = refusal;
		this.refusedAt = this.terms.now();
		boolean decided = this.queue.isEmpty() || this.queue.first().isLast();
		Effect denied = this.queue.denyLast(this::contended).and(warnOfWait());
		if (decided) {
			return denied.and(proceed());
		}
		Waiter head = this.queue.first();
		if (this.listening.hasMissed() || !attempt.suits(head, this.terms.leaseTimeFor(head))) {
			return denied.and(ask());
		}
		int refusals = attempt.refusals();
		return denied
			.and(this.listening.begin((desk) -> desk.pause(refusal.remaining(), attempt.isInLine(), refusals)));
	}

	/**
	 * Return the warning of a long wait, if it is due.
	 */
	Effect warnOfWait() {
		Warnings warnings = this.terms.warnings();
		if (this.queue.isEmpty() || !warnings.isDue(this.queue.first())
				|| (this.nextWarning != null && this.nextWarning - this.terms.now() > 0)) {
			return Effect.NONE;
		}
		Waiter first = this.queue.first();
		this.nextWarning = warnings.nextWarning(first);
		int waiters = this.queue.all().size();
		Hold holder = (this.own != null) ? this.own.hold() : null;
		LockAttempt.Refusal refusal = contended().refusal();
		return (desk) -> desk.warn(() -> warnings.longWait(this.key, first, waiters, holder, refusal));
	}

	private Courtesy courtesy() {
		Courtesy courtesy = (this.courtesy != null) ? this.courtesy : this.terms.newCourtesy();
		this.courtesy = courtesy;
		return courtesy;
	}

	/** The lock is over, but may soon be wanted again. */
	void park() {
		if (this.courtesy != null) {
			this.terms.park(this.key, this.courtesy);
		}
	}

	private void answered() {
		this.asking = false;
		this.patience.renew();
	}

	/**
	 * The request has failed.
	 * @param failure the reason
	 * @param interrupted the waiter whose interrupt has ended the request, or
	 * {@code null}; an interrupt says nothing about the store
	 */
	Effect failed(Attempt attempt, RuntimeException failure, @Nullable Waiter interrupted) {
		this.asking = false;
		attempt.failed((interrupted != null) ? null : failure);
		noteLine(attempt);
		if (this.queue.isEmpty()) {
			return proceed();
		}
		Waiter head = this.queue.first();
		if (interrupted != null) {
			return (head == interrupted) ? this.queue.deny(head, Denial.LEFT).and(proceed()) : ask();
		}
		boolean last = head.isLast();
		boolean misuse = failure instanceof IllegalArgumentException;
		Denial denial = misuse
				? Denial.misuse(new IllegalArgumentException(
						"The store cannot keep lock '" + this.key + "': " + failure.getMessage(), failure))
				: Denial.unavailable(failure);
		Effect denied = this.queue.denyLast(() -> denial);
		Long tolerance = (misuse || failure instanceof UnusableStoreException) ? null
				: this.patience.failed(attempt.sentAt(), failure, head);
		if (last) {
			return denied.and(proceed());
		}
		if (tolerance == null) {
			return denied.and(this.queue.deny(head, denial)).and(proceed());
		}
		return denied.and(this.listening.begin((desk) -> Math.min(desk.retryPause(attempt), tolerance)));
	}

	private void noteLine(Attempt attempt) {
		this.inLine |= attempt.isInLine() && !Discipline.of(attempt.mode()).standsInLineItself();
	}

	Effect rung() {
		this.listening.setMissed();
		return isListening() ? ask() : Effect.NONE;
	}

	Effect alarm(Alarm alarm) {
		if (!this.listening.awaits(alarm)) {
			return Effect.NONE;
		}
		Waiter first = this.queue.first();
		boolean stands = this.attempt == null || this.attempt.isInLine();
		Effect ask = ask();
		if (!stands || first == this.untold) {
			return ask;
		}
		this.untold = first;
		return ask.and(enterLineAgain());
	}

	/**
	 * Ask for the places of those behind the first waiter again. No message has come for
	 * it, so the store may have lost them: each would wait for a message in vain when it
	 * is the first. Once for each first waiter is no load while a lock is held for long.
	 */
	private Effect enterLineAgain() {
		List<Waiter> behind = this.queue.all()
			.stream()
			.skip(1)
			.filter((waiter) -> waiter.discipline().standsInLineItself())
			.toList();
		return (desk) -> behind.forEach((waiter) -> desk.enterLine(this.key, waiter));
	}

	/**
	 * Note that the lock is about to be released: messages from now on matter.
	 */
	void releasing() {
		this.listening.forget();
		if (this.courtesy != null) {
			this.courtesy.released(this.terms.now());
		}
	}

	/**
	 * Continue after the release of the lock.
	 * @param inLine whether this JVM stands in the line of the store, and will be
	 * notified when it is its turn
	 */
	Effect resume(boolean inLine) {
		boolean own = !this.queue.isEmpty() && this.queue.first().discipline().standsInLineItself();
		this.inLine |= inLine && !own;
		// No message announces a release that came before the waiter joined the line
		boolean notified = inLine && !this.listening.hasMissed() && !this.queue.isEmpty() && !this.queue.hasLast()
				&& (!own || this.queue.first().place().isTaken());
		return notified ? this.listening.begin((desk) -> desk.pause(null, true, 0)) : proceed();
	}

	/**
	 * Continue with the next waiter, or end without one.
	 */
	Effect proceed() {
		Effect denied = Effect.NONE;
		while (!this.queue.isEmpty()) {
			Denial denial = this.patience.denialFor(this.queue.first());
			if (denial == null) {
				return denied.and(ask());
			}
			denied = denied.and(this.queue.deny(this.queue.first(), denial));
		}
		return denied.and(end());
	}

	/** End without a waiter. */
	Effect end() {
		Effect effect = dropAttempt().and(this.listening.end());
		if (this.inLine) {
			this.inLine = false;
			effect = effect.and((desk) -> desk.withdraw(this.key));
		}
		this.patience.renew();
		return effect;
	}

	private Effect dropAttempt() {
		Attempt attempt = this.attempt;
		this.attempt = null;
		return (attempt != null && attempt.uncertainUntil() != null) ? (desk) -> desk.orphan(this.key, attempt)
				: Effect.NONE;
	}

}
