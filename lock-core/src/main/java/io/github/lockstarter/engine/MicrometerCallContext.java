// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.Executor;

import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;

/**
 * All thread locals that Micrometer Context Propagation has accessors for. The only class
 * that needs that library.
 *
 * @param snapshot the values of the thread locals
 */
record MicrometerCallContext(ContextSnapshot snapshot) implements CallContext {

	/**
	 * What the caller does not have is cleared, because a task that is rejected at
	 * shutdown runs on a thread of somebody else.
	 */
	private static final ContextSnapshotFactory snapshots = ContextSnapshotFactory.builder().clearMissing(true).build();

	static CallContext capture() {
		return new MicrometerCallContext(snapshots.captureAll());
	}

	@Override
	public Executor on(Executor executor) {
		return (task) -> executor.execute(() -> run(task, executor));
	}

	private void run(Runnable task, Executor executor) {
		try (ContextSnapshot.Scope scope = enter(task, executor)) {
			task.run();
		}
	}

	private ContextSnapshot.Scope enter(Runnable task, Executor executor) {
		try {
			return this.snapshot.setThreadLocals();
		}
		catch (Throwable ex) {
			// A lock is held until its body ends, so the body has to run; and this
			// thread has to end, because some of the thread locals may be set
			executor.execute(task);
			throw ex;
		}
	}

}
