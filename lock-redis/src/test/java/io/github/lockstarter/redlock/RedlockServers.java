// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import org.awaitility.Awaitility;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.servers.RedisServer;

/**
 * Several independent Redis servers, and one lock on them.
 */
final class RedlockServers implements AutoCloseable {

	static final LockKey KEY = LockKey.of("stock", 1001);

	static final String LOCK = "lock:{stock:1001}";

	/** A port on which no server listens. */
	static final int NOBODY = 1;

	/** Servers that were just started have a vote. */
	static final RedlockSettings SETTINGS = restartDelay(Duration.ZERO);

	private final List<RedisServer> servers;

	private RedlockServers(List<RedisServer> servers) {
		this.servers = servers;
	}

	static RedlockServers start(int number) {
		return new RedlockServers(Stream.generate(() -> RedisServer.start()).limit(number).toList());
	}

	static RedlockSettings restartDelay(Duration delay) {
		return new RedlockSettings("lock:", Duration.ofHours(1), Duration.ofSeconds(1), delay);
	}

	static RedlockSettings nodeTimeout(Duration timeout) {
		return new RedlockSettings("lock:", Duration.ofHours(1), timeout, Duration.ZERO);
	}

	/**
	 * Return connections that need not be closed, because they are not used themselves.
	 */
	static List<LettuceConnectionFactory> connections(int... ports) {
		return connections(Duration.ofMinutes(1), ports);
	}

	private static List<LettuceConnectionFactory> connections(Duration timeout, int... ports) {
		LettuceClientConfiguration client = LettuceClientConfiguration.builder().commandTimeout(timeout).build();
		return Arrays.stream(ports)
			.mapToObj(
					(port) -> new LettuceConnectionFactory(new RedisStandaloneConfiguration("127.0.0.1", port), client))
			.toList();
	}

	RedisServer get(int index) {
		return this.servers.get(index);
	}

	int port(int index) {
		return get(index).port();
	}

	RedlockStore store() {
		return store(SETTINGS);
	}

	RedlockStore store(RedlockSettings settings) {
		return new RedlockStore(connections(ports()), settings);
	}

	/**
	 * Create a store that waits for no answer longer than a second, which is half of the
	 * default.
	 */
	RedlockStore impatientStore(RedlockSettings settings) {
		return new RedlockStore(connections(Duration.ofSeconds(1), ports()), settings);
	}

	private int[] ports() {
		return this.servers.stream().mapToInt(RedisServer::port).toArray();
	}

	/**
	 * Kill a server and start it again, empty.
	 */
	void restart(int index) {
		get(index).kill();
		get(index).restart();
	}

	/**
	 * Let a time pass for a lock on all servers that know its owner.
	 */
	void expire(LockKey key, Duration time) {
		String lock = "lock:{" + key + '}';
		this.servers.forEach((server) -> {
			long remaining = Long.parseLong(server.command("PTTL", lock));
			server.command("PEXPIRE", lock, String.valueOf(remaining - time.toMillis()));
		});
	}

	/**
	 * Return how many servers know an owner of the lock.
	 */
	long held() {
		return this.servers.stream().filter(RedlockServers::isHeld).count();
	}

	private static boolean isHeld(RedisServer server) {
		return server.command("EXISTS", LOCK).equals("1");
	}

	/**
	 * Wait until no server knows an owner of the lock, long before its lease expires.
	 */
	void awaitFree() {
		Awaitility.await().until(() -> held() == 0);
	}

	@Override
	public void close() {
		this.servers.forEach(RedisServer::close);
	}

}
