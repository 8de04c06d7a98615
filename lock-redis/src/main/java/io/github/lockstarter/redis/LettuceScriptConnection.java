// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

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

	private final ConnectAttempts<RedisClusterAsyncCommands<byte[], byte[]>> commands = new ConnectAttempts<>(
			this::connect);

	LettuceScriptConnection(LettuceConnectionFactory factory) {
		this.factory = factory;
		this.timeout = factory.getClientConfiguration().getCommandTimeout().toNanos();
	}

	@Override
	public <T> T run(ScriptCall call) {
		long since = System.nanoTime();
		try {
			return run(commands(since), call, since);
		}
		catch (RuntimeException ex) {
			throw ScriptErrors.translate(ex, call.keys()[0]);
		}
	}

	@Override
	public <T> Replicated<T> runReplicated(ScriptCall call, int replicas, Duration timeout) {
		long since = System.nanoTime();
		try {
			RedisClusterAsyncCommands<byte[], byte[]> commands = commandsOfServer(call.keys()[0], since);
			T answer = run(commands, call, since);
			return new Replicated<>(answer, await(commands.waitForReplication(replicas, timeout.toMillis()), since));
		}
		catch (RuntimeException ex) {
			throw ScriptErrors.translate(ex, call.keys()[0]);
		}
	}

	private <T> T run(RedisClusterAsyncCommands<byte[], byte[]> commands, ScriptCall call, long since) {
		int late = this.late.get();
		try {
			T answer = await(this.<T>evalSha(commands, call), since);
			// It has overtaken a release that the server did not know
			return (late != this.late.get() && call.script().isAcquisition()) ? run(commands, call, since) : answer;
		}
		catch (RuntimeException ex) {
			if (!ScriptErrors.isUnknownScript(ex)) {
				throw ex;
			}
			return await(this.<T>eval(commands, call), since);
		}
	}

	/** In a cluster a command without a key goes anywhere. */
	private RedisClusterAsyncCommands<byte[], byte[]> commandsOfServer(byte[] key, long since) {
		RedisClusterAsyncCommands<byte[], byte[]> commands = commands(since);
		if (!(commands instanceof RedisAdvancedClusterAsyncCommands<byte[], byte[]> cluster)) {
			return commands;
		}
		String server = serverOf(key);
		return cluster.nodes((node) -> node.getNodeId().equals(server)).commands(0);
	}

	@Override
	public <T> CompletionStage<T> send(ScriptCall call) {
		try {
			RedisClusterAsyncCommands<byte[], byte[]> commands = commands(System.nanoTime());
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
		return (this.commands.connection() != null) ? send(call) : null;
	}

	@Override
	public String serverOf(byte[] key) {
		if (this.commands.connection() == null) {
			// To look for the servers of a cluster would mean to connect
			return "";
		}
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

	private <T> T await(RedisFuture<T> answer, long since) {
		return LettuceFutures.awaitOrCancel(answer, remaining(since), TimeUnit.NANOSECONDS);
	}

	/**
	 * Return the commands of the connection, and connect first if nobody has yet.
	 * @param since when the time-out of the caller has begun
	 */
	private RedisClusterAsyncCommands<byte[], byte[]> commands(long since) {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.commands.connection();
		return (commands != null) ? commands : this.commands.await(remaining(since));
	}

	private long remaining(long since) {
		return Math.max(this.timeout - (System.nanoTime() - since), 1);
	}

	private RedisClusterAsyncCommands<byte[], byte[]> connect() {
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

	@Override
	public void close() {
		this.commands.close();
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
