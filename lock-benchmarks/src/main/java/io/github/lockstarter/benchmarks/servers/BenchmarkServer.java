// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.servers;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.servers.WorkerJvm;

/**
 * The server of one measurement. The bodies of locks count in Redis whatever keeps the
 * locks, so that they take the same time everywhere.
 */
public final class BenchmarkServer implements AutoCloseable {

	private final ServerAddress address;

	private final RedisServer counters;

	private final List<RedisServer> counted;

	private final Runnable close;

	/**
	 * Create a server.
	 * @param address the address for clients
	 * @param counters the Redis server in which the bodies of locks count
	 * @param counted the servers that can say what they were asked for
	 * @param close stops the server
	 */
	BenchmarkServer(ServerAddress address, RedisServer counters, List<RedisServer> counted, Runnable close) {
		this.address = address;
		this.counters = counters;
		this.counted = counted;
		this.close = close;
	}

	/**
	 * Start a class that acquires locks in a JVM like one of an application, with the
	 * system properties of the benchmarks.
	 */
	public static WorkerJvm startClient(Class<?> main, Object... arguments) {
		List<String> options = new ArrayList<>(List.of("-Xmx512m", "-XX:TieredStopAtLevel=4", "-XX:-UseSerialGC",
				"-Dlogback.configurationFile=logback.xml"));
		System.getProperties()
			.stringPropertyNames()
			.stream()
			.filter((name) -> name.startsWith("benchmark."))
			.map((name) -> "-D" + name + "=" + System.getProperty(name))
			.forEach(options::add);
		return WorkerJvm.start(options, ProcessBuilder.Redirect.DISCARD, main, arguments);
	}

	public ServerAddress address() {
		return this.address;
	}

	/**
	 * Return the Redis server in which the bodies of locks count. For
	 * {@link ServerKind#REDIS} it also keeps the locks.
	 */
	public RedisServer counters() {
		return this.counters;
	}

	/**
	 * Return whether {@link #calls()} are known.
	 */
	public boolean countsCalls() {
		return !this.counted.isEmpty();
	}

	/**
	 * Forget all calls until now.
	 */
	public void resetCalls() {
		this.counted.forEach((server) -> server.command("CONFIG", "RESETSTAT"));
	}

	/**
	 * Return the number of calls of each command, by clients or scripts.
	 */
	public Map<String, Long> calls() {
		Map<String, Long> calls = new HashMap<>();
		this.counted
			.forEach((server) -> server.calls().forEach((command, number) -> calls.merge(command, number, Long::sum)));
		return calls;
	}

	@Override
	public void close() {
		this.close.run();
	}

}
