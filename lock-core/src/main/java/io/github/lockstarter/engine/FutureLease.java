// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

import io.github.lockstarter.Lease;

/**
 * A lease that may come; its asynchronous actions may block.
 */
final class FutureLease extends CompletableFuture<Lease> {

	private final Executor tasks;

	FutureLease(Executor tasks) {
		this.tasks = tasks;
	}

	@Override
	public Executor defaultExecutor() {
		return this.tasks;
	}

}
