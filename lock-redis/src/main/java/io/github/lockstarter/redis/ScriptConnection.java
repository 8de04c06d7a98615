// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Runs scripts on the server of a lock. Scripts for one lock take effect in the order of
 * the calls.
 */
interface ScriptConnection extends AutoCloseable {

	/**
	 * Open the first connection, without blocking.
	 * @return done when it is open, or could not be opened in time
	 */
	CompletableFuture<?> connect();

	/**
	 * Send a script.
	 * @param call builds the call; it may connect, and may fail
	 * @param reader reads the answer of the script
	 * @return the result of the reader, or the failure, which is never thrown
	 */
	<T, R> CompletableFuture<R> send(Supplier<ScriptCall> call, Function<T, R> reader);

	/**
	 * Run a script, and wait until replicas have confirmed its writes. Other commands on
	 * the same connection wait as well.
	 * @param call the call
	 * @param replicas how many replicas are enough
	 * @param timeout how long to wait for them
	 * @throws RuntimeException if there is no answer, or the answer is an error
	 */
	<T> Replicated<T> runReplicated(ScriptCall call, int replicas, Duration timeout);

	/**
	 * Set what to run when the server may have been replaced by another one, to which the
	 * next scripts connect. It may run on a thread of the driver, and must not block.
	 */
	void onDoubt(Runnable task);

	/**
	 * Set what to run when scripts go to a new connection, perhaps of a server that lacks
	 * leases. It must not block.
	 */
	default void onInterruption(Runnable task) {
	}

	/**
	 * Return whether {@link #send} blocks its thread until the server has answered.
	 */
	boolean mayBlock();

	/**
	 * Return whether the driver repeats a script unnoticed when a connection ends before
	 * the answer has come.
	 */
	default boolean mayRepeat() {
		return false;
	}

	/**
	 * Return whether this is a cluster, where each slot has its own server, and a server
	 * does not know the listeners of the others. A connection that may block may have to
	 * connect first.
	 */
	boolean isCluster();

	/**
	 * End attempts to connect.
	 */
	@Override
	default void close() {
	}

}
