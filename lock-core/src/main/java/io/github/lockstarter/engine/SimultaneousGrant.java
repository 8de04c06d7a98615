// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockStore;

/**
 * Acquires several locks with one request to the store, if all of them are free.
 */
final class SimultaneousGrant {

	private final LockStore store;

	private final Terms terms;

	private final LocalLocks locks;

	private final StoreDesk desk;

	private final Admission admission;

	private final Timetable timetable;

	private final Executor threads;

	private final Answers answers;

	SimultaneousGrant(LockStore store, Terms terms, LocalLocks locks, StoreDesk desk, Admission admission,
			EngineThreads threads) {
		this.store = store;
		this.terms = terms;
		this.locks = locks;
		this.desk = desk;
		this.admission = admission;
		this.timetable = threads.timetable();
		this.threads = threads.requests();
		this.answers = new Answers(this.timetable);
	}

	/**
	 * Acquire all locks at once, on a thread that waits for that.
	 * @param requests each lock once, in the order that is the same in all instances
	 * @param waiters creates a waiter for each of them, which does not wait
	 * @param waitTime how long the acquisition may take
	 * @return the leases, or {@code null} if that is not possible; then no lock is held
	 * @throws LockUnavailableException if the store could not be asked, and no time is
	 * left to ask it again
	 */
	@Nullable List<Lease> tryGrant(List<LockRequest> requests, Function<LockRequest, ThreadWaiter> waiters, Duration waitTime) {
		List<Part> parts = arrive(requests, waiters);
		if (parts == null) {
			return null;
		}
		// A request to a store that blocks keeps its thread
		boolean here = !this.desk.mayBlock() || waitTime.compareTo(Answers.BLOCKING) >= 0;
		Question question = ask(parts, waitTime, here ? Runnable::run : this.threads);
		return conclude(parts, question, await(question.answer), waitTime);
	}

	/**
	 * Wait for an answer, or for an interrupt.
	 * @return why there is none, or {@code null}
	 */
	private @Nullable Throwable await(CompletableFuture<?> answer) {
		this.answers.await(answer);
		// From now on it comes too late
		answer.completeExceptionally(new InterruptedException());
		return answer.<@Nullable Throwable>handle((grants, ex) -> ex).join();
	}

	/**
	 * Acquire all locks at once, without waiting for that.
	 * @param requests each lock once, in the order that is the same in all instances
	 * @param waiters gives a waiter for each of them, which does not wait
	 * @param waitTime how long the acquisition may take
	 * @param tasks run what follows the answer
	 * @return the leases, or {@code null} if that is not possible and no lock is held
	 */
	CompletableFuture<@Nullable List<Lease>> tryGrantAsync(List<LockRequest> requests,
			Function<LockRequest, ThreadWaiter> waiters, Duration waitTime, Executor tasks) {
		List<Part> parts = arrive(requests, waiters);
		if (parts == null) {
			return CompletableFuture.completedFuture(null);
		}
		Question question = ask(parts, waitTime, this.desk.mayBlock() ? this.threads : Runnable::run);
		return question.answer.handleAsync((grants, ex) -> conclude(parts, question, ex, waitTime), tasks);
	}

	/**
	 * Let a waiter arrive at each of the locks.
	 * @return the locks, or {@code null} if one of them is not free and all are left
	 * again
	 */
	private @Nullable List<Part> arrive(List<LockRequest> requests, Function<LockRequest, ThreadWaiter> waiters) {
		// Otherwise each of them waits for the first connection
		boolean connected = this.desk.connection().isDone();
		if (requests.size() == 1 || !connected || this.terms.isRefusing() || Thread.currentThread().isInterrupted()
				|| !requests.stream().allMatch(SimultaneousGrant::isExclusive) || !isPossibleFor(requests)) {
			return null;
		}
		List<Part> parts = new ArrayList<>(requests.size());
		if (requests.stream().allMatch((request) -> arrive(request, waiters.apply(request), parts))) {
			return parts;
		}
		parts.forEach(this::undo);
		return null;
	}

	private boolean isPossibleFor(List<LockRequest> requests) {
		try {
			return this.store.groupGrant()
				.filter((grant) -> grant.isPossibleFor(requests.stream().map(LockRequest::key).toList()))
				.isPresent();
		}
		catch (Throwable ex) {
			// They are acquired one by one
			return false;
		}
	}

	private static boolean isExclusive(LockRequest request) {
		return Discipline.of(request.mode()) == Discipline.EXCLUSIVE;
	}

	/**
	 * Let a waiter arrive at a lock of this JVM.
	 * @return whether the lock is free, or held by the same owner
	 */
	private boolean arrive(LockRequest request, ThreadWaiter waiter, List<Part> parts) {
		Attempt attempt = new Attempt(waiter, this.terms.leaseTimeFor(waiter));
		Boolean reserved = null;
		while (reserved == null) {
			LocalLock lock = this.locks.getOrCreate(request.key());
			reserved = lock.reserve(waiter, attempt);
			if (Boolean.TRUE.equals(reserved)) {
				parts.add(new Part(lock, waiter, attempt));
			}
		}
		return reserved;
	}

	/**
	 * Ask for all locks that the owner does not hold already.
	 * @param thread where to make the request
	 */
	private Question ask(List<Part> parts, Duration waitTime, Executor thread) {
		List<Part> wanted = parts.stream().filter((part) -> !part.waiter.isReentered()).toList();
		long sentAt = this.timetable.now();
		List<LeaseRequest> requests = wanted.stream().map((part) -> part.send(sentAt)).toList();
		if (requests.isEmpty()) {
			return new Question(wanted, sentAt, CompletableFuture.completedFuture(List.of()));
		}
		CompletableFuture<List<LockAttempt.Grant>> asked = new CompletableFuture<>();
		thread.execute(() -> Answers.guarded(() -> this.store.groupGrant().orElseThrow().acquire(requests))
			.whenComplete((grants, ex) -> {
				if (ex != null) {
					asked.completeExceptionally(ex);
				}
				else if (grants == null || (!grants.isEmpty() && grants.size() != requests.size())
						|| grants.stream().anyMatch(Objects::isNull)) {
					asked.completeExceptionally(Answers.noAnswer());
				}
				else {
					asked.complete(grants);
				}
			}));
		return new Question(wanted, sentAt, this.answers.within(Answers.timeFor(waitTime), asked,
				(grants) -> orphan(grants.isEmpty() ? List.of() : wanted)));
	}

	private @Nullable List<Lease> conclude(List<Part> parts, Question question, @Nullable Throwable failure,
			Duration waitTime) {
		boolean granted = false;
		try {
			if (failure != null) {
				orphan(question.wanted);
				failed(question, waitTime, failure);
			}
			else {
				granted = accept(question.wanted, question.answer.join());
			}
			return granted ? begin(parts) : null;
		}
		finally {
			if (!granted) {
				parts.forEach(this::undo);
			}
		}
	}

	/**
	 * Begin the tenures of granted locks.
	 * @return whether there are such, and their leases last
	 */
	private boolean accept(List<Part> wanted, List<LockAttempt.Grant> grants) {
		if (grants.size() < wanted.size()) {
			return false;
		}
		List<Tenure> tenures = new ArrayList<>(grants.size());
		for (int i = 0; i < grants.size(); i++) {
			tenures.add(this.desk.tenure(wanted.get(i).lock.key(), wanted.get(i).attempt, grants.get(i)));
		}
		if (!tenures.stream().allMatch(Tenure::isHeld)) {
			orphan(wanted);
			return false;
		}
		for (int i = 0; i < grants.size(); i++) {
			Part part = wanted.get(i);
			part.lock.granted(part.attempt, tenures.get(i));
		}
		return true;
	}

	private void failed(Question question, Duration waitTime, Throwable failure) {
		Part part = question.wanted.get(0);
		Duration waited = Duration.ofNanos(this.timetable.now() - question.sentAt);
		// Asked one by one, the lock that the store cannot keep is named
		boolean misuse = RootCause.unwrap(failure) instanceof IllegalArgumentException;
		if (!misuse && waitTime.compareTo(waited) <= 0 && !part.waiter.isInterrupted()) {
			LockUnavailableException unavailable = this.admission.unavailable(part.lock.key(),
					RootCause.asRuntime(failure));
			this.admission.turnAway(part.lock.key(), part.waiter, unavailable);
			throw unavailable;
		}
	}

	/**
	 * Release locks that may still be granted later, for as long as their lease lasts.
	 */
	private void orphan(List<Part> parts) {
		for (Part part : parts) {
			part.attempt.send(this.timetable.now(), false, false);
			part.attempt.failed(null);
			this.desk.orphan(part.lock.key(), part.attempt);
		}
	}

	private @Nullable List<Lease> begin(List<Part> parts) {
		List<Lease> leases = new ArrayList<>(parts.size());
		for (Part part : parts) {
			Lease lease = (part.waiter.outcome() instanceof Hold)
					? this.admission.conclude(part.lock.key(), part.waiter, false) : null;
			if (lease != null) {
				leases.add(lease);
			}
		}
		if (leases.size() < parts.size()) {
			HeldLeases.release(leases);
			return null;
		}
		return leases;
	}

	private void undo(Part part) {
		if (part.waiter.outcome() instanceof Hold hold) {
			this.desk.exit(hold);
		}
		else {
			part.lock.abandon(part.waiter);
		}
	}

	/**
	 * What the store was asked for: the locks that the owner does not hold already.
	 */
	private record Question(List<Part> wanted, long sentAt, CompletableFuture<List<LockAttempt.Grant>> answer) {
	}

	/**
	 * One of the locks during the acquisition.
	 */
	private record Part(LocalLock lock, ThreadWaiter waiter, Attempt attempt) {

		LeaseRequest send(long sentAt) {
			this.attempt.ask(sentAt, Answers.OWN);
			this.attempt.send(sentAt, false, false);
			return new LeaseRequest(this.lock.key(), this.attempt.token(), this.attempt.leaseTime());
		}

	}

}
