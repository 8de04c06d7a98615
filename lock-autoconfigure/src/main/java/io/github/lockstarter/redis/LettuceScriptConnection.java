// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.async.RedisAdvancedClusterAsyncCommands;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Runs scripts on the one connection that all threads share, without the cost that Spring
 * Data Redis adds to each call. Lettuce sends in the order of the calls, so a release
 * need not be answered before the next acquisition is sent.
 */
final class LettuceScriptConnection implements ScriptConnection {

	private static final Log logger = LogFactory.getLog(LettuceScriptConnection.class);

	private final LettuceConnectionFactory factory;

	private final long timeout;

	/** How many scripts were sent a second time, behind what was sent after the first. */
	private final AtomicInteger late = new AtomicInteger();

	private final ReentrantLock connecting = new ReentrantLock();

	private volatile @Nullable RedisClusterAsyncCommands<byte[], byte[]> commands;

	private volatile @Nullable Failure lastFailure;

	LettuceScriptConnection(LettuceConnectionFactory factory) {
		this.factory = factory;
		this.timeout = factory.getClientConfiguration().getCommandTimeout().toNanos();
	}

	@Override
	public <T> T run(ScriptCall call) {
		try {
			return run(commands(), call);
		}
		catch (RuntimeException ex) {
			throw ScriptErrors.translate(ex, call.keys()[0]);
		}
	}

	@Override
	public <T> Replicated<T> runReplicated(ScriptCall call, int replicas, Duration timeout) {
		try {
			RedisClusterAsyncCommands<byte[], byte[]> commands = commandsOfServer(call.keys()[0]);
			T answer = run(commands, call);
			return new Replicated<>(answer, await(commands.waitForReplication(replicas, timeout.toMillis())));
		}
		catch (RuntimeException ex) {
			throw ScriptErrors.translate(ex, call.keys()[0]);
		}
	}

	private <T> T run(RedisClusterAsyncCommands<byte[], byte[]> commands, ScriptCall call) {
		int late = this.late.get();
		try {
			T answer = await(this.<T>evalSha(commands, call));
			// It has overtaken a release that the server did not know
			return (late != this.late.get() && call.script().isAcquisition()) ? run(commands, call) : answer;
		}
		catch (RuntimeException ex) {
			if (!ScriptErrors.isUnknownScript(ex)) {
				throw ex;
			}
			return await(this.<T>eval(commands, call));
		}
	}

	/** In a cluster a command without a key goes anywhere. */
	private RedisClusterAsyncCommands<byte[], byte[]> commandsOfServer(byte[] key) {
		RedisClusterAsyncCommands<byte[], byte[]> commands = commands();
		if (!(commands instanceof RedisAdvancedClusterAsyncCommands<byte[], byte[]> cluster)) {
			return commands;
		}
		String server = serverOf(key);
		return cluster.nodes((node) -> node.getNodeId().equals(server)).commands(0);
	}

	@Override
	public <T> CompletionStage<T> send(ScriptCall call) {
		try {
			RedisClusterAsyncCommands<byte[], byte[]> commands = commands();
			return this.<T>evalSha(commands, call).exceptionallyCompose((ex) -> {
				if (ScriptErrors.isUnknownScript(ex)) {
					CompletionStage<T> answer = eval(commands, call);
					this.late.incrementAndGet();
					return answer;
				}
				return CompletableFuture.failedFuture(ScriptErrors.translate(ex, call.keys()[0]));
			});
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	@Override
	public <T> @Nullable CompletionStage<T> trySend(ScriptCall call) {
		return (this.commands != null) ? send(call) : null;
	}

	@Override
	public String serverOf(byte[] key) {
		if (!(this.factory.getRequiredNativeClient() instanceof RedisClusterClient cluster)) {
			return "";
		}
		RedisClusterNode node = cluster.getPartitions().getPartitionBySlot(SlotHash.getSlot(key));
		return (node != null) ? node.getNodeId() : "";
	}

	@Override
	public boolean isCluster() {
		return this.factory.isClusterAware();
	}

	private <T> RedisFuture<T> evalSha(RedisClusterAsyncCommands<byte[], byte[]> commands, ScriptCall call) {
		return commands.evalsha(call.script().digest(), outputType(call.script()), call.keys(), call.arguments());
	}

	private <T> RedisFuture<T> eval(RedisClusterAsyncCommands<byte[], byte[]> commands, ScriptCall call) {
		return commands.eval(call.script().text(), outputType(call.script()), call.keys(), call.arguments());
	}

	private static ScriptOutputType outputType(LockScript script) {
		return script.returnsList() ? ScriptOutputType.MULTI : ScriptOutputType.INTEGER;
	}

	private <T> T await(RedisFuture<T> answer) {
		return LettuceFutures.awaitOrCancel(answer, this.timeout, TimeUnit.NANOSECONDS);
	}

	private RedisClusterAsyncCommands<byte[], byte[]> commands() {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.commands;
		return (commands != null) ? commands : connect(System.nanoTime());
	}

	private RedisClusterAsyncCommands<byte[], byte[]> connect(long since) {
		try {
			this.connecting.lockInterruptibly();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while connecting", ex);
		}
		try {
			RedisClusterAsyncCommands<byte[], byte[]> commands = this.commands;
			if (commands != null) {
				return commands;
			}
			Failure failure = this.lastFailure;
			if (failure != null && failure.at - since > 0) {
				// Somebody else has just found out; to try one after another would take
				// long
				throw failure.exception;
			}
			this.commands = connectNow();
			return this.commands;
		}
		catch (RuntimeException ex) {
			this.lastFailure = new Failure(ex, System.nanoTime());
			throw ex;
		}
		finally {
			this.connecting.unlock();
		}
	}

	private RedisClusterAsyncCommands<byte[], byte[]> connectNow() {
		RedisConnection connection = this.factory.getConnection();
		try {
			RedisClusterAsyncCommands<byte[], byte[]> commands = ((LettuceConnection) connection).getNativeConnection();
			this.factory.getRequiredNativeClient().addListener(new ScriptLoader(commands));
			loadScripts(commands);
			return commands;
		}
		finally {
			connection.close();
		}
	}

	/** So that a release does not come after the next acquisition because of a script. */
	private static void loadScripts(RedisClusterAsyncCommands<byte[], byte[]> commands) {
		for (LockScript script : LockScript.values()) {
			commands.scriptLoad(script.text()).exceptionally((ex) -> {
				logger.debug("Could not load script " + script + "; it is sent in full when it is needed", ex);
				return null;
			});
		}
	}

	private record Failure(RuntimeException exception, long at) {
	}

	/**
	 * Loads the scripts again after the connection was lost: the server may be another.
	 */
	private record ScriptLoader(
			RedisClusterAsyncCommands<byte[], byte[]> commands) implements RedisConnectionStateListener {

		@Override
		public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
			loadScripts(this.commands);
		}

	}

}
