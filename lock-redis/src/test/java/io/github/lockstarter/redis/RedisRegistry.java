// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.Function;

import org.awaitility.Awaitility;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSetRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineProbe;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.testsupport.DistantRedis;
import io.github.lockstarter.testsupport.EmbeddedRedis;

/**
 * A registry on a real Redis with connections of its own, like that of one instance of an
 * application.
 */
final class RedisRegistry implements LockRegistry, AutoCloseable {

	static final EngineSettings SETTINGS = new EngineSettings(Duration.ofSeconds(20), Duration.ofSeconds(30), 3,
			Duration.ofSeconds(1), Duration.ofMillis(100), Duration.ofMillis(50), Duration.ofSeconds(1),
			Duration.ofSeconds(20));

	private final Runnable closeConnections;

	private final RedisLockStore store;

	private final DefaultLockRegistry registry;

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private RedisRegistry(RedisConnectionFactory connections, Runnable closeConnections, EngineSettings settings) {
		this(connections, closeConnections, settings, RedisLockSettings.DEFAULTS);
	}

	private RedisRegistry(RedisConnectionFactory connections, Runnable closeConnections, EngineSettings settings,
			RedisLockSettings redisSettings) {
		this.closeConnections = closeConnections;
		this.store = new RedisLockStore(connections, redisSettings);
		this.registry = new DefaultLockRegistry(this.store, settings, this.events::add);
	}

	/**
	 * Wait until this registry, the only one on its server, has all its connections,
	 * which it opens in the background. With each one it may load its scripts, on the
	 * connection of its commands.
	 */
	void awaitConnected(EmbeddedRedis redis) {
		Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> {
			// Subscribes once more if that has failed
			acquire(LockRequest.of("connected", 1)).close();
			return redis.command("PUBSUB", "CHANNELS").contains("wake");
		});
		// The server answers this after it has loaded the scripts
		acquire(LockRequest.of("connected", 1)).close();
		Awaitility.await().until(() -> redis.command("EXISTS", "lock:{connected:1}").equals("0"));
	}

	static RedisRegistry lettuce(EmbeddedRedis redis) {
		return lettuce(redis, SETTINGS);
	}

	static RedisRegistry lettuce(EmbeddedRedis redis, EngineSettings settings) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", redis.port());
		connections.start();
		return new RedisRegistry(connections, connections::destroy, settings);
	}

	/**
	 * Create a registry with a distant server.
	 */
	static RedisRegistry lettuce(DistantRedis redis) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", redis.port());
		connections.start();
		return new RedisRegistry(connections, connections::destroy, SETTINGS);
	}

	static RedisRegistry lettuce(EmbeddedRedis redis, RedisLockSettings settings) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", redis.port());
		connections.start();
		return new RedisRegistry(connections, connections::destroy, SETTINGS, settings);
	}

	static RedisRegistry jedis(EmbeddedRedis redis, RedisLockSettings settings) {
		JedisConnectionFactory connections = new JedisConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", redis.port()));
		connections.start();
		return new RedisRegistry(connections, connections::destroy, SETTINGS, settings);
	}

	/**
	 * Create a registry whose connections are those of a user.
	 */
	static RedisRegistry lettuce(EmbeddedRedis redis, String user, String password) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory(server(redis, user, password));
		connections.start();
		return new RedisRegistry(connections, connections::destroy, SETTINGS);
	}

	/**
	 * Create a registry whose connections are those of a user.
	 */
	static RedisRegistry jedis(EmbeddedRedis redis, String user, String password) {
		JedisConnectionFactory connections = new JedisConnectionFactory(server(redis, user, password));
		connections.afterPropertiesSet();
		connections.start();
		return new RedisRegistry(connections, connections::destroy, SETTINGS);
	}

	static RedisRegistry jedis(EmbeddedRedis redis, EngineSettings settings) {
		return jedis(redis.port(), settings);
	}

	static RedisRegistry jedis(int port, EngineSettings settings) {
		JedisConnectionFactory connections = new JedisConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", port));
		connections.start();
		return of(connections, connections::destroy, settings);
	}

	/**
	 * Create a registry on connections of any kind.
	 * @param closeConnections closes the connections at the end
	 */
	static RedisRegistry of(RedisConnectionFactory connections, Runnable closeConnections, EngineSettings settings) {
		return new RedisRegistry(connections, closeConnections, settings);
	}

	private static RedisStandaloneConfiguration server(EmbeddedRedis redis, String user, String password) {
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("127.0.0.1", redis.port());
		server.setUsername(user);
		server.setPassword(password);
		return server;
	}

	/**
	 * Return settings with another lease time.
	 */
	static EngineSettings leaseTime(Duration leaseTime) {
		return leaseTime(leaseTime, SETTINGS.renewalsPerLease());
	}

	/**
	 * Return settings with another lease time that is renewed as often as possible, so
	 * that a lock outlives a machine that stands still for almost as long.
	 */
	static EngineSettings often(Duration leaseTime) {
		return leaseTime(leaseTime, EngineSettings.MAX_RENEWALS_PER_LEASE);
	}

	static EngineSettings leaseTime(Duration leaseTime, int renewals) {
		return new EngineSettings(SETTINGS.waitTime(), leaseTime, renewals, SETTINGS.pollInterval(),
				SETTINGS.pollIntervalWithoutMessages(), SETTINGS.timeSlice(), SETTINGS.shutdownTimeout(),
				SETTINGS.outageTime());
	}

	/**
	 * Return settings with another poll interval.
	 */
	static EngineSettings pollInterval(Duration pollInterval) {
		return new EngineSettings(SETTINGS.waitTime(), SETTINGS.leaseTime(), SETTINGS.renewalsPerLease(), pollInterval,
				SETTINGS.pollIntervalWithoutMessages(), SETTINGS.timeSlice(), SETTINGS.shutdownTimeout(),
				SETTINGS.outageTime());
	}

	/**
	 * Return settings with which a waiter without a message asks much too late.
	 */
	static EngineSettings withoutPolling() {
		return new EngineSettings(Duration.ofMinutes(2), Duration.ofMinutes(2), SETTINGS.renewalsPerLease(),
				Duration.ofMinutes(1), Duration.ofMinutes(1), SETTINGS.timeSlice(), SETTINGS.shutdownTimeout(),
				SETTINGS.outageTime());
	}

	/**
	 * Return settings with another time slice.
	 */
	static EngineSettings timeSlice(Duration timeSlice) {
		return new EngineSettings(SETTINGS.waitTime(), SETTINGS.leaseTime(), SETTINGS.renewalsPerLease(),
				SETTINGS.pollInterval(), SETTINGS.pollIntervalWithoutMessages(), timeSlice, SETTINGS.shutdownTimeout(),
				SETTINGS.outageTime());
	}

	List<LockEvent> events() {
		return this.events;
	}

	@Override
	public Lease acquire(LockRequest request) {
		return this.registry.acquire(request);
	}

	@Override
	public Optional<Lease> tryAcquire(LockRequest request) {
		return this.registry.tryAcquire(request);
	}

	@Override
	public CompletableFuture<Lease> acquireAsync(LockRequest request) {
		return this.registry.acquireAsync(request);
	}

	@Override
	public LeaseSet acquireAll(LockSetRequest request) {
		return this.registry.acquireAll(request);
	}

	@Override
	public Optional<LeaseSet> tryAcquireAll(LockSetRequest request) {
		return this.registry.tryAcquireAll(request);
	}

	@Override
	public CompletableFuture<LeaseSet> acquireAllAsync(LockSetRequest request) {
		return this.registry.acquireAllAsync(request);
	}

	@Override
	public ReadWriteLock readWriteLock(LockKey key) {
		return this.registry.readWriteLock(key);
	}

	@Override
	public Lock lock(LockKey key) {
		return this.registry.lock(key);
	}

	int backgroundActions() {
		return EngineProbe.backgroundActions(this.registry);
	}

	int activeLocks() {
		return EngineProbe.activeLocks(this.registry);
	}

	@Override
	public void close() {
		this.registry.close();
		this.store.close();
		this.closeConnections.run();
	}

}
