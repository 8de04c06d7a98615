// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.servers;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.api.sync.RedisCommands;
import redis.embedded.RedisExecProvider;

import io.github.lockstarter.testsupport.ServerPort;

/**
 * A real Redis server on a free port of the loopback address, without persistence.
 */
public final class BenchmarkRedis implements AutoCloseable {

	private static final Pattern CALLS = Pattern.compile("cmdstat_([^:]+):calls=(\\d+)");

	private static final Pattern CPU = Pattern.compile("used_cpu_(?:sys|user):([\\d.]+)");

	private final int port;

	private final Process process;

	private final RedisClient client;

	private final RedisCommands<String, String> commands;

	private BenchmarkRedis(int port, Process process) {
		this.port = port;
		this.process = process;
		this.client = RedisClient.create("redis://127.0.0.1:" + port);
		this.commands = connect();
	}

	public static BenchmarkRedis start() throws IOException {
		int port = ServerPort.find();
		Path executable = RedisExecProvider.defaultProvider().get().toPath().toAbsolutePath();
		Process process = new ProcessBuilder(executable.toString(), "--port", String.valueOf(port), "--bind",
				"127.0.0.1", "--save", "", "--appendonly", "no")
			.redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.redirectError(ProcessBuilder.Redirect.DISCARD)
			.start();
		Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
		return new BenchmarkRedis(port, process);
	}

	private RedisCommands<String, String> connect() {
		while (true) {
			try {
				return this.client.connect().sync();
			}
			catch (RedisConnectionException ex) {
				if (!this.process.isAlive()) {
					throw ex;
				}
				Thread.onSpinWait();
			}
		}
	}

	public int port() {
		return this.port;
	}

	/**
	 * Return a connection for commands that are not part of a lock.
	 */
	public RedisCommands<String, String> commands() {
		return this.commands;
	}

	/**
	 * Return the number of calls of each command, by clients or scripts.
	 */
	Map<String, Long> calls() {
		Map<String, Long> calls = new HashMap<>();
		Matcher matcher = CALLS.matcher(this.commands.info("commandstats"));
		while (matcher.find()) {
			calls.put(matcher.group(1), Long.valueOf(matcher.group(2)));
		}
		return calls;
	}

	/**
	 * Return the CPU time that the server has used, in seconds.
	 */
	public double cpuSeconds() {
		double seconds = 0;
		Matcher matcher = CPU.matcher(this.commands.info("cpu"));
		while (matcher.find()) {
			seconds += Double.parseDouble(matcher.group(1));
		}
		return seconds;
	}

	@Override
	public void close() {
		this.client.shutdown();
		this.process.destroy();
	}

}
