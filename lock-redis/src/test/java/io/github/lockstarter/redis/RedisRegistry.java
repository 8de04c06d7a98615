// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.SocketOptions;
import org.awaitility.Awaitility;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineProbe;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.servers.SharedServers.RedisDatabase;

/**
 * A registry on a real Redis with connections of its own, like that of one instance of an
 * application.
 */
final class RedisRegistry implements AutoCloseable {

	/** Bears outages for longer than most tests last. */
	static final EngineSettings SETTINGS = new EngineSettings(Duration.ofSeconds(30), Duration.ofSeconds(30), 3,
			EngineSettings.DEFAULTS.pollInterval(), EngineSettings.DEFAULTS.pollIntervalWithoutMessages(),
			EngineSettings.DEFAULTS.timeSlice(), Duration.ofSeconds(1), Duration.ofSeconds(20));

	/** The driver gives a command two seconds by default. */
	static final JedisClientConfiguration PATIENT_JEDIS = JedisClientConfiguration.builder()
		.connectTimeout(Duration.ofMinutes(1))
		.readTimeout(Duration.ofMinutes(1))
		.build();

	private final RedisConnectionFactory connections;

	private final RedisLockStore store;

	private final DefaultLockRegistry registry;

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private RedisRegistry(RedisConnectionFactory connections, EngineSettings settings,
			RedisLockSettings redisSettings) {
		this.connections = connections;
		if (connections instanceof JedisConnectionFactory jedis) {
			jedis.afterPropertiesSet();
		}
		((SmartLifecycle) connections).start();
		this.store = new RedisLockStore(connections, redisSettings);
		this.registry = new DefaultLockRegistry(this.store, settings, this.events::add);
	}

	/**
	 * Create a registry.
	 * @param connections its connections, which are started, and closed at its end
	 */
	static RedisRegistry of(RedisConnectionFactory connections, EngineSettings settings) {
		return new RedisRegistry(connections, settings, RedisLockSettings.DEFAULTS);
	}

	static RedisRegistry of(RedisConnectionFactory connections, EngineSettings settings,
			RedisLockSettings redisSettings) {
		return new RedisRegistry(connections, settings, redisSettings);
	}

	static RedisRegistry lettuce(RedisServer redis) {
		return lettuce(redis, SETTINGS);
	}

	static RedisRegistry lettuce(RedisServer redis, EngineSettings settings) {
		return of(connections(server(redis.port())), settings);
	}

	static RedisRegistry lettuce(RedisServer redis, RedisLockSettings settings) {
		return new RedisRegistry(connections(server(redis.port())), SETTINGS, settings);
	}

	static RedisRegistry lettuce(RedisServer redis, String user, String password) {
		return of(connections(server(redis, user, password)), SETTINGS);
	}

	static RedisRegistry lettuce(RedisDatabase redis) {
		return lettuce(redis, SETTINGS);
	}

	static RedisRegistry lettuce(RedisDatabase redis, EngineSettings settings) {
		return of(connections(redis), settings);
	}

	static RedisRegistry jedis(RedisDatabase redis, EngineSettings settings) {
		return of(jedis(server(redis)), settings);
	}

	static RedisRegistry jedis(RedisServer redis, RedisLockSettings settings) {
		return new RedisRegistry(jedis(server(redis.port())), SETTINGS, settings);
	}

	static RedisRegistry jedis(RedisServer redis, String user, String password) {
		return of(jedis(server(redis, user, password)), SETTINGS);
	}

	/**
	 * Return connections with which a command may take long.
	 */
	static JedisConnectionFactory jedis(RedisStandaloneConfiguration server) {
		return new JedisConnectionFactory(server, PATIENT_JEDIS);
	}

	/**
	 * Return connections to a database of the server that tests share.
	 */
	static LettuceConnectionFactory connections(RedisDatabase redis) {
		return connections(server(redis));
	}

	static LettuceConnectionFactory connections(RedisStandaloneConfiguration server) {
		return connections(server, Duration.ofMinutes(1));
	}

	static LettuceConnectionFactory connections(RedisStandaloneConfiguration server, Duration timeout) {
		return connections(server, timeout, SocketOptions.DEFAULT_CONNECT_TIMEOUT_DURATION);
	}

	/**
	 * Return connections that are closed without waiting for further commands.
	 * @param timeout how long a command may take
	 * @param connectTimeout how long a connection may take
	 */
	static LettuceConnectionFactory connections(RedisStandaloneConfiguration server, Duration timeout,
			Duration connectTimeout) {
		return new LettuceConnectionFactory(server,
				LettuceClientConfiguration.builder()
					.commandTimeout(timeout)
					.clientOptions(ClientOptions.builder()
						.socketOptions(SocketOptions.builder().connectTimeout(connectTimeout).build())
						.build())
					.shutdownQuietPeriod(Duration.ZERO)
					.build());
	}

	static RedisStandaloneConfiguration server(RedisDatabase redis) {
		RedisStandaloneConfiguration server = server(redis.port());
		server.setDatabase(redis.number());
		return server;
	}

	static RedisStandaloneConfiguration server(int port) {
		return new RedisStandaloneConfiguration("127.0.0.1", port);
	}

	private static RedisStandaloneConfiguration server(RedisServer redis, String user, String password) {
		RedisStandaloneConfiguration server = server(redis.port());
		server.setUsername(user);
		server.setPassword(password);
		return server;
	}

	/**
	 * Return settings with which a lock is renewed as often as possible, so that it
	 * outlives a machine that stands still for almost as long as its lease.
	 */
	static EngineSettings often(Duration leaseTime) {
		return leaseTime(leaseTime, 20);
	}

	static EngineSettings leaseTime(Duration leaseTime, int renewals) {
		return new EngineSettings(SETTINGS.waitTime(), leaseTime, renewals, SETTINGS.pollInterval(),
				SETTINGS.pollIntervalWithoutMessages(), SETTINGS.timeSlice(), SETTINGS.shutdownTimeout(),
				SETTINGS.outageTime());
	}

	/**
	 * Return settings with which a waiter without a message asks later than any test
	 * ends.
	 */
	static EngineSettings withoutPolling() {
		return new EngineSettings(Duration.ofMinutes(10), Duration.ofMinutes(10), 3, Duration.ofMinutes(5),
				Duration.ofMinutes(5), SETTINGS.timeSlice(), SETTINGS.shutdownTimeout(), SETTINGS.outageTime());
	}

	/**
	 * Return settings with another time after which a waiter that no message reaches
	 * asks.
	 */
	static EngineSettings pollInterval(Duration pollInterval) {
		return new EngineSettings(SETTINGS.waitTime(), SETTINGS.leaseTime(), 3, pollInterval,
				SETTINGS.pollIntervalWithoutMessages(), SETTINGS.timeSlice(), SETTINGS.shutdownTimeout(),
				SETTINGS.outageTime());
	}

	/**
	 * Return settings with another time slice.
	 */
	static EngineSettings timeSlice(Duration timeSlice) {
		return new EngineSettings(SETTINGS.waitTime(), SETTINGS.leaseTime(), 3, SETTINGS.pollInterval(),
				SETTINGS.pollIntervalWithoutMessages(), timeSlice, SETTINGS.shutdownTimeout(), SETTINGS.outageTime());
	}

	/**
	 * Wait until this registry, the only one on its server, has all its connections,
	 * which it opens in the background. With each one it may load its scripts, on the
	 * connection of its commands.
	 */
	void awaitConnected(RedisServer redis) {
		LockRequest request = LockRequest.of("connected", 1);
		Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> {
			// Subscribes once more if that has failed
			acquire(request).close();
			return redis.command("PUBSUB", "CHANNELS").contains("wake");
		});
		// The server answers this after it has loaded the scripts
		acquire(request).close();
		Awaitility.await().until(() -> redis.command("EXISTS", "lock:{connected:1}").equals("0"));
	}

	RedisLockStore store() {
		return this.store;
	}

	LockRegistry registry() {
		return this.registry;
	}

	List<LockEvent> events() {
		return this.events;
	}

	Lease acquire(LockRequest request) {
		return this.registry.acquire(request);
	}

	Optional<Lease> tryAcquire(LockRequest request) {
		return this.registry.tryAcquire(request);
	}

	CompletableFuture<Lease> acquireAsync(LockRequest request) {
		return this.registry.acquireAsync(request);
	}

	boolean free(Lease lease) {
		return this.store.inspection()
			.orElseThrow()
			.free(lease.key(), lease.fencingToken())
			.toCompletableFuture()
			.join();
	}

	int backgroundActions() {
		return EngineProbe.backgroundActions(this.registry);
	}

	@Override
	public void close() {
		this.registry.close();
		this.store.close();
		try {
			((DisposableBean) this.connections).destroy();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

}
