// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Runs steps one after another. A step begins when the stage of the previous one has
 * ended, on the thread that has ended it.
 */
final class Steps {

	private final Queue<Step<?>> waiting = new ArrayDeque<>();

	private final Runnable idle;

	private boolean running;

	/**
	 * Create an empty queue.
	 * @param idle called when all steps have ended
	 */
	Steps(Runnable idle) {
		this.idle = idle;
	}

	/**
	 * Add a step, which begins with {@link #proceed()}.
	 * @param answer completed with the result of the step; may end earlier
	 */
	synchronized <T> void add(CompletableFuture<T> answer, Supplier<CompletableFuture<T>> step) {
		this.waiting.add(new Step<>(answer, step));
	}

	synchronized boolean isIdle() {
		return !this.running && this.waiting.isEmpty();
	}

	/**
	 * Run all steps that can run now.
	 */
	void proceed() {
		if (begin()) {
			runAll();
		}
	}

	private synchronized boolean begin() {
		boolean begins = !this.running && !this.waiting.isEmpty();
		this.running |= begins;
		return begins;
	}

	private void runAll() {
		for (Step<?> step = next(); step != null; step = next()) {
			CompletableFuture<?> ended = step.run();
			if (!ended.isDone()) {
				ended.whenComplete((result, ex) -> runAll());
				return;
			}
		}
		this.idle.run();
	}

	private synchronized @Nullable Step<?> next() {
		Step<?> next = this.waiting.poll();
		this.running = next != null;
		return next;
	}

	private record Step<T>(CompletableFuture<T> answer, Supplier<CompletableFuture<T>> action) {

		/**
		 * Run the step.
		 * @return done when the step has ended and its answer is given
		 */
		CompletableFuture<T> run() {
			CompletableFuture<T> stage;
			try {
				stage = this.action.get();
			}
			catch (Throwable ex) {
				stage = CompletableFuture.failedFuture(ex);
			}
			return stage.whenComplete((result, ex) -> {
				if (ex != null) {
					this.answer.completeExceptionally(
							(ex instanceof CompletionException && ex.getCause() != null) ? ex.getCause() : ex);
				}
				else {
					this.answer.complete(result);
				}
			});
		}

	}

}
