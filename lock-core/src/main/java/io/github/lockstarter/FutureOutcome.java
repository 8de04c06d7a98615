// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * The outcome of an acquisition that may still be under way; its asynchronous actions may
 * block. Cancelling it ends the wait, or releases the lock.
 *
 * @param <L> the argument of the body: a {@link Lease} or a {@link LeaseSet}
 */
final class FutureOutcome<L extends LeaseSet> extends CompletableFuture<LockOutcome<L>> {

	private final Executor tasks;

	FutureOutcome(CompletableFuture<L> acquisition, BodyTerms terms) {
		this.tasks = acquisition.defaultExecutor();
		acquisition.whenComplete((lease, ex) -> {
			LockOutcome<L> outcome = (lease != null) ? LockOutcome.ofGrant(lease, terms)
					: new LockOutcome<>(null, ex, terms);
			if (!complete(outcome)) {
				outcome.end(new CancellationException());
			}
		});
		whenComplete((outcome, ex) -> acquisition.cancel(false));
	}

	@Override
	public Executor defaultExecutor() {
		return this.tasks;
	}

}
