// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.Executor;

/**
 * What a thread carries beside its calls, such as a security context, a trace and an MDC.
 * The code of a caller that runs on another thread gets it back there. It is empty
 * without Micrometer Context Propagation, which knows what belongs to it.
 */
interface CallContext {

	boolean CAPTURED = isCaptured("io.micrometer.context.ContextSnapshotFactory");

	/**
	 * Return the context of the current thread. Not called for callers that run their
	 * code themselves.
	 */
	static CallContext capture() {
		return CAPTURED ? MicrometerCallContext.capture() : (executor) -> executor;
	}

	/**
	 * Return an executor that gives its threads this context for the time of each task.
	 * @param executor provides the threads
	 */
	Executor on(Executor executor);

	private static boolean isCaptured(String library) {
		try {
			Class.forName(library);
			return true;
		}
		catch (ClassNotFoundException | LinkageError ex) {
			return false;
		}
	}

}
