// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Function;

import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a script call. The connection may still have to be opened, and the server
 * may not know the script: all steps together have the time-out of one command.
 *
 * @param <T> the answer of the script
 * @param <R> the result that is read from the answer
 */
final class LettuceAnswer<T, R> extends CompletableFuture<R> implements BiConsumer<T, @Nullable Throwable> {

	private final ScriptCall call;

	private final Function<T, R> reader;

	private final AtomicInteger late;

	private final BiConsumer<RedisClusterAsyncCommands<byte[], byte[]>, Throwable> failed;

	private final long timeout;

	private final long since = System.nanoTime();

	private int lateBefore;

	private boolean limited;

	private volatile boolean overtaking;

	private volatile @Nullable RedisClusterAsyncCommands<byte[], byte[]> commands;

	/**
	 * Create an answer without sending the call.
	 * @param late how many scripts the connection has sent a second time, behind later
	 * calls
	 * @param failed called with each failure on an open connection
	 * @param timeout time-out from now on, in nanoseconds
	 */
	LettuceAnswer(ScriptCall call, Function<T, R> reader, AtomicInteger late,
			BiConsumer<RedisClusterAsyncCommands<byte[], byte[]>, Throwable> failed, long timeout) {
		this.call = call;
		this.reader = reader;
		this.late = late;
		this.failed = failed;
		this.timeout = timeout;
	}

	/**
	 * Send the call when the connection is open.
	 */
	void sendTo(CompletableFuture<RedisClusterAsyncCommands<byte[], byte[]>> connected) {
		limit();
		connected.whenComplete((commands, ex) -> {
			if (ex != null) {
				fail(ex);
			}
			// A request that has timed out must not take effect later
			else if (!isDone()) {
				sendTo(commands);
			}
		});
	}

	/** Send the call on an open connection. */
	void sendTo(RedisClusterAsyncCommands<byte[], byte[]> commands) {
		this.commands = commands;
		this.lateBefore = this.late.get();
		try {
			ScriptCall call = this.call;
			RedisFuture<T> answer = commands.evalsha(call.script().digest(), outputType(), call.keys(),
					call.arguments());
			answer.whenComplete(this);
		}
		catch (RuntimeException ex) {
			fail(ex);
		}
	}

	@Override
	public void accept(T answer, @Nullable Throwable ex) {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.commands;
		if (ex != null) {
			if (commands != null && ScriptErrors.isUnknownScript(ex)) {
				sendInFull(commands);
			}
			else {
				fail(ex);
			}
		}
		else if (commands != null && this.call.script().isAcquisition() && this.lateBefore != this.late.get()) {
			// It has overtaken a release whose script the server did not know
			this.overtaking = true;
			limit();
			sendTo(commands);
		}
		else {
			read(answer);
		}
	}

	private void sendInFull(RedisClusterAsyncCommands<byte[], byte[]> commands) {
		limit();
		try {
			RedisFuture<T> answer = commands.eval(this.call.script().text(), outputType(), this.call.keys(),
					this.call.arguments());
			this.late.incrementAndGet();
			answer.whenComplete((result, ex) -> {
				if (ex != null) {
					fail(ex);
				}
				else {
					read(result);
				}
			});
		}
		catch (RuntimeException ex) {
			fail(ex);
		}
	}

	private ScriptOutputType outputType() {
		return this.call.script().returnsList() ? ScriptOutputType.MULTI : ScriptOutputType.INTEGER;
	}

	private void read(T answer) {
		try {
			complete(this.reader.apply(answer));
		}
		catch (RuntimeException ex) {
			fail(ex);
		}
	}

	private void fail(Throwable ex) {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.commands;
		if (commands != null) {
			this.failed.accept(commands, ex);
		}
		// What the server has carried out before must not seem to be unsent
		completeExceptionally((this.overtaking && ScriptErrors.isUnsent(ex))
				? new IllegalStateException("The connection was lost before the call could be repeated")
				: ScriptErrors.translate(ex, this.call));
	}

	/** The driver limits the time of each command only. */
	private void limit() {
		if (!this.limited) {
			this.limited = true;
			long remaining = Math.max(this.timeout - (System.nanoTime() - this.since), 1);
			delayedExecutor(remaining, TimeUnit.NANOSECONDS, Runnable::run).execute(this::timeOut);
		}
	}

	private void timeOut() {
		if (!isDone()) {
			long millis = TimeUnit.NANOSECONDS.toMillis(this.timeout);
			completeExceptionally((this.commands == null)
					? new IllegalStateException("No connection to Redis within " + millis + " ms")
					: new RedisCommandTimeoutException("Command timed out after " + millis + " ms"));
		}
	}

}
