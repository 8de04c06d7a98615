// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;

/**
 * Runs scripts on connections of Spring Data Redis with any driver, one at a time on the
 * caller's thread.
 */
final class SpringScriptConnection implements ScriptConnection {

	private static final Log logger = LogFactory.getLog(SpringScriptConnection.class);

	private final RedisConnectionFactory connections;

	private final boolean repeating;

	private final ConnectAttempts<Boolean> first = new ConnectAttempts<>(this::open);

	private volatile @Nullable Boolean cluster;

	private volatile Runnable doubt = () -> {
	};

	/**
	 * Create a connection.
	 * @param connections opens a connection for each script; never one that is bound to
	 * the thread, whose transaction or pipeline would delay the script
	 * @param repeating whether they may repeat scripts; in a cluster all do
	 */
	SpringScriptConnection(RedisConnectionFactory connections, boolean repeating) {
		this.connections = connections;
		this.repeating = repeating;
	}

	@Override
	public CompletableFuture<?> connect() {
		return this.first.connected();
	}

	/** The connection stays open in its pool; without one, its driver is loaded. */
	private boolean open() {
		try (RedisConnection connection = this.connections.getConnection()) {
			// In a cluster, each node would have to answer
			return noteCluster(connection) || connection.ping() != null;
		}
	}

	@Override
	public <T, R> CompletableFuture<R> send(Supplier<ScriptCall> call, Function<T, R> reader) {
		try {
			ScriptCall script = call.get();
			T answer = onConnection(script, (connection) -> this.<T>run(connection, script));
			return CompletableFuture.completedFuture(reader.apply(answer));
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	@Override
	public boolean mayBlock() {
		return true;
	}

	@Override
	public <T> Replicated<T> runReplicated(ScriptCall call, int replicas, Duration timeout) {
		return onConnection(call, (connection) -> {
			T answer = run(connection, call);
			Object confirmed = connection.execute("WAIT", bytes(replicas), bytes(timeout.toMillis()));
			return new Replicated<>(answer, (confirmed instanceof Long number) ? number : 0);
		});
	}

	private static byte[] bytes(long number) {
		return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
	}

	private <R> R onConnection(ScriptCall call, Function<RedisConnection, R> commands) {
		RedisConnection connection = this.connections.getConnection();
		try {
			return commands.apply(connection);
		}
		catch (RuntimeException ex) {
			doubt(connection, ex);
			throw ScriptErrors.translate(ex, call);
		}
		finally {
			connection.close();
		}
	}

	/**
	 * Let a wrong server end the connection, which its driver replaces: the address may
	 * belong to another server by now.
	 */
	private void doubt(RedisConnection connection, RuntimeException failure) {
		boolean wrong = ScriptErrors.isWrongServer(failure) && !noteCluster(connection);
		if (wrong) {
			try {
				connection.execute("QUIT");
			}
			catch (RuntimeException ex) {
				logger.debug("Could not end the connection to a wrong server", ex);
			}
		}
		if (wrong || ScriptErrors.isTimeout(failure)) {
			this.doubt.run();
		}
	}

	@Override
	public void onDoubt(Runnable task) {
		this.doubt = task;
	}

	private <T> T run(RedisConnection connection, ScriptCall call) {
		byte[][] keys = call.keys();
		byte[][] arguments = call.arguments();
		byte[][] all = new byte[keys.length + arguments.length][];
		System.arraycopy(keys, 0, all, 0, keys.length);
		System.arraycopy(arguments, 0, all, keys.length, arguments.length);
		ReturnType returnType = call.script().returnsList() ? ReturnType.MULTI : ReturnType.INTEGER;
		T answer = run(connection, call.script(), returnType, keys.length, all);
		if (answer == null) {
			throw new IllegalStateException("Redis gave no answer; its connections must not be in a transaction");
		}
		return answer;
	}

	private <T> @Nullable T run(RedisConnection connection, LockScript script, ReturnType returnType, int keyCount,
			byte[]... all) {
		try {
			return connection.scriptingCommands().evalSha(script.digest(), returnType, keyCount, all);
		}
		catch (RuntimeException ex) {
			if (!ScriptErrors.isUnknownScript(ex)) {
				throw ex;
			}
			return connection.scriptingCommands().eval(script.text(), returnType, keyCount, all);
		}
	}

	@Override
	public boolean mayRepeat() {
		return this.repeating || isCluster();
	}

	@Override
	public boolean isCluster() {
		Boolean known = this.cluster;
		if (known != null) {
			return known;
		}
		RedisConnection connection = this.connections.getConnection();
		try {
			return noteCluster(connection);
		}
		finally {
			connection.close();
		}
	}

	private boolean noteCluster(RedisConnection connection) {
		boolean cluster = connection instanceof RedisClusterConnection;
		this.cluster = cluster;
		return cluster;
	}

	@Override
	public void close() {
		this.first.close();
	}

}
