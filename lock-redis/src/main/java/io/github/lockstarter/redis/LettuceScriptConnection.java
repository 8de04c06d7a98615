// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.Collections;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.async.RedisAdvancedClusterAsyncCommands;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Runs scripts on one connection that all threads share, without the cost that Spring
 * Data Redis adds to each call. Lettuce sends in the order of the calls, so the next
 * acquisition can be sent before a release is answered.
 */
final class LettuceScriptConnection implements ScriptConnection, RedisConnectionStateListener {

	private static final Log logger = LogFactory.getLog(LettuceScriptConnection.class);

	/** A server that is replaced soon is asked for no longer than that. */
	private static final long SHORTEST_USE = Duration.ofMillis(500).toNanos();

	private final LettuceConnectionFactory factory;

	private final long timeout;

	private final Duration connectTimeout;

	private final PrimaryAddress primary;

	private final BiConsumer<RedisClusterAsyncCommands<byte[], byte[]>, Throwable> failures = this::failed;

	/** How many scripts were sent a second time, behind later calls. */
	private final AtomicInteger late = new AtomicInteger();

	private final ConnectAttempts<RedisClusterAsyncCommands<byte[], byte[]>> commands = new ConnectAttempts<>(
			this::open);

	/** Used only by attempts to connect. */
	private boolean first = true;

	private final AtomicBoolean probing = new AtomicBoolean();

	private volatile long openedAt;

	/** Where the primary was when the connection was opened. */
	private volatile Set<SocketAddress> addresses = Set.of();

	private volatile Runnable doubt = () -> {
	};

	private volatile Runnable interruption = () -> {
	};

	/**
	 * Create a connection that is opened by its first use.
	 * @param factory opens it, and is closed elsewhere
	 * @param connectTimeout how long the first attempt to connect may take
	 * @param primary where the factory connects to
	 */
	LettuceScriptConnection(LettuceConnectionFactory factory, Duration connectTimeout, PrimaryAddress primary) {
		this.factory = factory;
		this.primary = primary;
		this.connectTimeout = connectTimeout;
		this.timeout = factory.getClientConfiguration().getCommandTimeout().toNanos();
		factory.getRequiredNativeClient().addListener(this);
	}

	@Override
	public CompletableFuture<?> connect() {
		return this.commands.connected().orTimeout(this.connectTimeout.toNanos(), TimeUnit.NANOSECONDS);
	}

	@Override
	public <T, R> CompletableFuture<R> send(Supplier<ScriptCall> call, Function<T, R> reader) {
		try {
			LettuceAnswer<T, R> answer = new LettuceAnswer<>(call.get(), reader, this.late, this.failures,
					this.timeout);
			RedisClusterAsyncCommands<byte[], byte[]> commands = this.commands.connection();
			if (commands != null) {
				answer.sendTo(commands);
			}
			else {
				answer.sendTo(this.commands.connected());
			}
			return answer;
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	@Override
	public boolean mayBlock() {
		return false;
	}

	@Override
	public <T> Replicated<T> runReplicated(ScriptCall call, int replicas, Duration timeout) {
		long since = System.nanoTime();
		try {
			RedisClusterAsyncCommands<byte[], byte[]> commands = commandsOfServer(call.keys()[0], since);
			LettuceAnswer<T, T> answer = new LettuceAnswer<>(call, Function.identity(), this.late, this.failures,
					remaining(since));
			answer.sendTo(commands);
			T result = await(answer, since);
			return new Replicated<>(result, await(commands.waitForReplication(replicas, timeout.toMillis()), since));
		}
		catch (RuntimeException ex) {
			RedisClusterAsyncCommands<byte[], byte[]> commands = this.commands.connection();
			if (commands != null) {
				failed(commands, ex);
			}
			throw ScriptErrors.translate(ex, call);
		}
	}

	/**
	 * In a cluster a command without a key goes to any server, so the server of the key
	 * is selected here.
	 */
	private RedisClusterAsyncCommands<byte[], byte[]> commandsOfServer(byte[] key, long since) {
		RedisClusterAsyncCommands<byte[], byte[]> commands = await(this.commands.connected(), since);
		if (!(commands instanceof RedisAdvancedClusterAsyncCommands<byte[], byte[]> cluster)) {
			return commands;
		}
		String server = server(key);
		return cluster.nodes((node) -> node.getNodeId().equals(server)).commands(0);
	}

	private String server(byte[] key) {
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

	/**
	 * Wait for an answer until the time-out.
	 * @param since when the time-out of the caller began
	 */
	private <T> T await(Future<T> answer, long since) {
		try {
			return answer.get(remaining(since), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new RedisCommandInterruptedException(ex);
		}
		catch (TimeoutException ex) {
			String missing = (this.commands.connection() != null) ? "answer" : "connection";
			throw new RedisCommandTimeoutException(
					"The " + missing + " timed out after " + TimeUnit.NANOSECONDS.toMillis(this.timeout) + " ms");
		}
		catch (ExecutionException ex) {
			throw (ex.getCause() instanceof RuntimeException cause) ? cause : new IllegalStateException(ex.getCause());
		}
		finally {
			answer.cancel(true);
		}
	}

	private long remaining(long since) {
		return Math.max(this.timeout - (System.nanoTime() - since), 1);
	}

	/**
	 * Open the connection. The JVM loads classes while it connects for the first time, so
	 * only later attempts have no more time than a command.
	 */
	private RedisClusterAsyncCommands<byte[], byte[]> open() {
		long until = System.nanoTime() + (this.first ? this.connectTimeout.toNanos() : 0);
		this.first = false;
		while (true) {
			try {
				return openOnce();
			}
			catch (RuntimeException ex) {
				if (!ScriptErrors.isTimeout(ex) || System.nanoTime() - until >= 0) {
					throw ex;
				}
			}
		}
	}

	private RedisClusterAsyncCommands<byte[], byte[]> openOnce() {
		// Closes the connection to a server that is no longer the right one
		this.factory.resetConnection();
		this.primary.close();
		// First, so that a later move is noticed
		this.addresses = lookUp();
		RedisConnection connection = this.factory.getConnection();
		try {
			RedisClusterAsyncCommands<byte[], byte[]> commands = ((LettuceConnection) connection).getNativeConnection();
			loadScripts(commands);
			this.openedAt = System.nanoTime();
			return commands;
		}
		finally {
			connection.close();
		}
	}

	/**
	 * Connect anew after an answer of a wrong server, and if the server is silent: the
	 * address may belong to another server by now. In a cluster, one server does not
	 * concern the others, and the driver follows redirections, except those of a server
	 * that was selected here.
	 */
	private void failed(RedisClusterAsyncCommands<byte[], byte[]> commands, Throwable ex) {
		if (this.factory.getRequiredNativeClient() instanceof RedisClusterClient cluster) {
			if (ScriptErrors.isRedirection(ex)) {
				cluster.refreshPartitionsAsync();
			}
			return;
		}
		if (System.nanoTime() - this.openedAt <= SHORTEST_USE) {
			return;
		}
		if (ScriptErrors.isWrongServer(ex)) {
			connectAnew(commands, ex);
		}
		else if (ScriptErrors.isTimeout(ex) && this.probing.compareAndSet(false, true)) {
			probe(commands);
		}
	}

	/**
	 * Find out whether a server is silent, or only slow: a new connection would give up
	 * all requests whose answers are under way.
	 */
	private void probe(RedisClusterAsyncCommands<byte[], byte[]> commands) {
		CompletableFuture<String> answer;
		try {
			answer = commands.ping().toCompletableFuture().copy();
		}
		catch (RuntimeException ex) {
			answer = CompletableFuture.failedFuture(ex);
		}
		answer.orTimeout(2 * this.timeout, TimeUnit.NANOSECONDS).whenComplete((pong, ex) -> {
			this.probing.set(false);
			if (ex != null && (ex instanceof TimeoutException || ScriptErrors.isTimeout(ex))) {
				connectAnew(commands, ex);
			}
		});
	}

	/**
	 * Connect anew at once if the primary is not where it was.
	 */
	void follow() {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.commands.connection();
		if (commands != null) {
			Set<SocketAddress> addresses = lookUp();
			if (!addresses.isEmpty() && Collections.disjoint(addresses, this.addresses)) {
				connectAnew(commands, new IllegalStateException("The primary has moved to " + addresses));
			}
		}
	}

	private Set<SocketAddress> lookUp() {
		return (this.factory.getRequiredNativeClient() instanceof RedisClient client) ? this.primary.lookUp(client)
				: Set.of();
	}

	private void connectAnew(RedisClusterAsyncCommands<byte[], byte[]> commands, Throwable reason) {
		if (this.commands.forget(commands)) {
			logger.debug("Connecting anew", reason);
			this.commands.connected();
			this.doubt.run();
			interrupted();
		}
	}

	@Override
	public void onDoubt(Runnable task) {
		this.doubt = task;
	}

	@Override
	public void onInterruption(Runnable task) {
		this.interruption = task;
	}

	/** Let leases be renewed, because the server may be another one that lacks some. */
	void interrupted() {
		this.interruption.run();
	}

	@Override
	public void close() {
		this.commands.close();
	}

	/**
	 * Load the scripts, so that an unknown script does not delay a release behind the
	 * next acquisition.
	 */
	private static void loadScripts(RedisClusterAsyncCommands<byte[], byte[]> commands) {
		for (LockScript script : LockScript.values()) {
			commands.scriptLoad(script.text()).exceptionally((ex) -> {
				logger.debug("Could not load script " + script + "; it is sent in full when it is needed", ex);
				return null;
			});
		}
	}

	/**
	 * Load the scripts again after a reconnect, because the server may be another one.
	 */
	@Override
	public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.commands.connection();
		if (commands != null) {
			loadScripts(commands);
			interrupted();
		}
	}

}
