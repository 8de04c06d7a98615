// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * A way to run scripts on the server of a lock. What is sent about one lock takes effect
 * in the order of the calls.
 */
interface ScriptConnection extends AutoCloseable {

	/**
	 * Send a script.
	 * @param call builds the call; that may have to connect, and may fail
	 * @param reader reads the answer of the script
	 * @return what was read, now or later, or the failure; never thrown
	 */
	<T, R> CompletableFuture<R> send(Supplier<ScriptCall> call, Function<T, R> reader);

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
	 * Return whether {@link #send} keeps its thread until the server has answered.
	 */
	boolean mayBlock();

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
	 * does not know who listens on the others. A connection that may block may have to
	 * connect to know it.
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
