// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.DelegatingStore;

/**
 * A store that can be silenced: it carries out what is requested, but gives no answer,
 * not even an error, as a driver without time-outs. Requests that block do so until the
 * silence is over or their thread is interrupted. Of the others, half are answered when
 * it is over, and half never.
 */
final class UnansweringStore extends DelegatingStore {

	private volatile Silence silence = new Silence();

	UnansweringStore(LockStore delegate) {
		super(delegate);
		endWaits();
	}

	/**
	 * Give no answers to requests from now on.
	 */
	void fallSilent() {
		this.silence = new Silence();
	}

	/**
	 * Give answers again.
	 */
	void speak() {
		this.silence.over.complete(null);
	}

	/**
	 * Give the answers that were never to come, so that a caller who still waits for one
	 * of them ends, and is found.
	 */
	void endWaits() {
		speak();
		this.silence.never.complete(null);
	}

	@Override
	protected <T> CompletionStage<T> ask(Request kind, Supplier<CompletionStage<T>> request) {
		return answer(super.ask(kind, request));
	}

	@Override
	public List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
		return super.renew(requests).stream().map(this::answer).toList();
	}

	private <T> CompletionStage<T> answer(CompletionStage<T> answer) {
		Silence silence = this.silence;
		if (silence.over.isDone()) {
			return answer;
		}
		if (!mayBlock()) {
			return silence.any().thenCompose((nothing) -> answer);
		}
		try {
			silence.over.get();
			return answer;
		}
		catch (InterruptedException | ExecutionException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while waiting for an answer", ex);
		}
	}

	/**
	 * A time without answers.
	 *
	 * @param over when answers come again
	 * @param never when nobody must wait any longer
	 */
	private record Silence(CompletableFuture<Void> over, CompletableFuture<Void> never) {

		Silence() {
			this(new CompletableFuture<>(), new CompletableFuture<>());
		}

		CompletableFuture<Void> any() {
			return ThreadLocalRandom.current().nextBoolean() ? this.over : this.never;
		}

	}

}
