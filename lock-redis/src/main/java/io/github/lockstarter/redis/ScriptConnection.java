// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * A way to run scripts on the server of a lock.
 */
interface ScriptConnection extends AutoCloseable {

	/**
	 * Run a script and wait for its answer.
	 * @param call what to run
	 * @throws RuntimeException if there is no answer, or the answer is an error
	 */
	<T> T run(ScriptCall call);

	/**
	 * Send a script, without waiting for its answer if this connection keeps the order of
	 * what is sent for the same slot.
	 * @param call what to run
	 * @return the answer, now or later
	 */
	default <T> CompletionStage<T> send(ScriptCall call) {
		try {
			return CompletableFuture.completedFuture(run(call));
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * Send a script on a thread that must not block.
	 * @param call what to run
	 * @return the answer, now or later, or {@code null} if that is not possible
	 */
	default <T> @Nullable CompletionStage<T> trySend(ScriptCall call) {
		return null;
	}

	/**
	 * Run a script, and wait until replicas have what it has written. What others do on
	 * the same connection waits as well.
	 * @param call what to run
	 * @param replicas how many of them are enough
	 * @param timeout how long to wait for them
	 * @throws RuntimeException if there is no answer, or the answer is an error
	 */
	<T> Replicated<T> runReplicated(ScriptCall call, int replicas, Duration timeout);

	/**
	 * Return what identifies the server of a key in a cluster, without asking for it.
	 */
	Object serverOf(byte[] key);

	/**
	 * Return what looks up the servers of all keys, or {@code null} if they are known
	 * without.
	 */
	default @Nullable Runnable serverLookup() {
		return null;
	}

	/**
	 * Return whether the driver sends a script again, without telling, when a connection
	 * ends before the answer has come.
	 */
	default boolean mayRepeat() {
		return false;
	}

	/**
	 * Return whether this is a cluster, where each slot has its own server, and a server
	 * does not know who listens on the others.
	 */
	boolean isCluster();

	/**
	 * Return whether this is a cluster as far as is known without connecting.
	 */
	default boolean isKnownAsCluster() {
		return isCluster();
	}

	/**
	 * End what is under way to connect.
	 */
	@Override
	default void close() {
	}

}
