// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;

import io.github.lockstarter.LeaseSet;

/**
 * A lease, or a set of leases, that may be granted; its asynchronous actions may block,
 * and have the context of the call.
 *
 * @param <L> a {@link Lease} or a {@link LeaseSet}
 */
final class FutureLease<L extends LeaseSet> extends CompletableFuture<L> {

	private final Executor bodies;

	/**
	 * Create a future lease.
	 * @param bodies runs the asynchronous actions
	 */
	FutureLease(Executor bodies) {
		this.bodies = bodies;
	}

	/**
	 * Return what was granted, or throw the exception with which this future has failed.
	 */
	L lease() {
		try {
			return join();
		}
		catch (CompletionException ex) {
			if (ex.getCause() instanceof Error error) {
				throw error;
			}
			throw (ex.getCause() instanceof RuntimeException failure) ? failure : ex;
		}
	}

	@Override
	public Executor defaultExecutor() {
		return this.bodies;
	}

}
