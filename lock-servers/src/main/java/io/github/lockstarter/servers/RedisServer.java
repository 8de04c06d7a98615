// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import redis.embedded.RedisExecProvider;

/**
 * A Redis server of one's own on a free port, without persistence: killed and started
 * again, it is empty.
 */
public final class RedisServer extends ServerProcess {

	/** System property that names another {@code redis-server} than the embedded one. */
	public static final String EXECUTABLE_PROPERTY = "redis.executable";

	private static final List<String> WITHOUT_PERSISTENCE = List.of("--save", "", "--appendonly", "no",
			"--repl-diskless-sync-delay", "0");

	/** The distance from the port of a cluster node to its port for the other nodes. */
	private static final int CLUSTER_BUS = 10_000;

	private final int port;

	private RedisServer(Path executable, Map<String, String> environment, int port, Path directory,
			List<String> options) {
		super(command(executable, options, port), environment, directory);
		this.port = port;
		try {
			await(this::answers);
		}
		catch (RuntimeException ex) {
			// Nobody else can
			close();
			throw ex;
		}
	}

	private static List<String> command(Path executable, List<String> options, int port) {
		List<String> command = new ArrayList<>(List.of(executable.toString()));
		command.addAll(options);
		command.addAll(List.of("--port", String.valueOf(port), "--bind", "127.0.0.1"));
		return command;
	}

	private static RedisServer start(int port, List<String> first, String... options) {
		List<String> all = new ArrayList<>(WITHOUT_PERSISTENCE);
		all.addAll(first);
		all.addAll(List.of(options));
		return new RedisServer(Embedded.EXECUTABLE, Map.of(), port, newDirectory("redis"), all);
	}

	public static RedisServer start(String... options) {
		return start(ServerPort.find(), List.of(), options);
	}

	/**
	 * Start a server other than the embedded one.
	 * @param environment the environment variables of its process
	 */
	public static RedisServer start(Path executable, Map<String, String> environment) {
		return new RedisServer(executable, environment, ServerPort.find(), newDirectory("redis"), WITHOUT_PERSISTENCE);
	}

	/**
	 * Start a server that belongs to no cluster yet. Its port for the other nodes is the
	 * default one, because Redis 6.2 supports no other.
	 */
	public static RedisServer startClusterNode(String... options) {
		int port = ServerPort.find();
		while (!ServerPort.isFree(port + CLUSTER_BUS)) {
			port = ServerPort.find();
		}
		return start(port, List.of("--cluster-enabled", "yes"), options);
	}

	/**
	 * Start a replica of another server.
	 */
	public static RedisServer startReplicaOf(RedisServer primary) {
		return start("--replicaof", "127.0.0.1", String.valueOf(primary.port()));
	}

	/**
	 * Start a sentinel that watches a server and its replicas.
	 * @param name its name for them
	 */
	public static RedisServer startSentinelOf(RedisServer primary, String name) {
		try {
			Path directory = newDirectory("sentinel");
			Path configuration = Files.writeString(directory.resolve("sentinel.conf"), """
					sentinel monitor %1$s 127.0.0.1 %2$d 1
					sentinel down-after-milliseconds %1$s 500
					sentinel failover-timeout %1$s 3000
					""".formatted(name, primary.port()));
			return new RedisServer(Embedded.EXECUTABLE, Map.of(), ServerPort.find(), directory,
					List.of(configuration.toString(), "--sentinel"));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	public int port() {
		return this.port;
	}

	public String address() {
		return "127.0.0.1:" + this.port;
	}

	@Override
	public void restart() {
		super.restart();
		await(this::answers);
	}

	private boolean answers() {
		try {
			command("PING");
			return true;
		}
		catch (UncheckedIOException ex) {
			return false;
		}
	}

	/**
	 * Send a command.
	 * @return the answer as text, an array with its elements on lines of their own
	 */
	public String command(String... command) {
		try (RedisSocket socket = new RedisSocket(this.port)) {
			return socket.command(command);
		}
	}

	/**
	 * Return the version that the server reports of itself.
	 */
	public String version() {
		return command("INFO", "server").lines()
			.filter((line) -> line.startsWith("redis_version:"))
			.map((line) -> line.substring(line.indexOf(':') + 1))
			.findFirst()
			.orElseThrow();
	}

	/**
	 * Return how often a command was called, also by scripts.
	 */
	public long calls(String command) {
		return calls().getOrDefault(command, 0L);
	}

	/**
	 * Return how often each command was called, also by scripts.
	 */
	public Map<String, Long> calls() {
		Matcher line = Pattern.compile("cmdstat_([^:]+):calls=(\\d+)").matcher(command("INFO", "commandstats"));
		Map<String, Long> calls = new HashMap<>();
		while (line.find()) {
			calls.put(line.group(1), Long.valueOf(line.group(2)));
		}
		return calls;
	}

	/**
	 * Return the names of the commands that clients send while a body runs.
	 */
	public List<String> monitor(Runnable body) {
		try (RedisSocket monitor = new RedisSocket(this.port)) {
			monitor.command("MONITOR");
			body.run();
			command("ECHO", "end-of-monitoring");
			Pattern line = Pattern.compile("[\\d.]+ \\[\\d+ (\\S+)] \"(\\w+)\".*");
			List<String> commands = new ArrayList<>();
			for (String text = monitor.read(); !text.contains("end-of-monitoring"); text = monitor.read()) {
				Matcher matcher = line.matcher(text);
				if (matcher.matches() && !matcher.group(1).equals("lua")) {
					commands.add(matcher.group(2));
				}
			}
			return commands;
		}
	}

	/**
	 * The executable, which is unpacked once per JVM.
	 */
	private static final class Embedded {

		static final Path EXECUTABLE = executable();

		private static Path executable() {
			String other = System.getProperty(EXECUTABLE_PROPERTY);
			if (other != null) {
				// An archive may not have kept the permission
				new File(other).setExecutable(true);
				return Path.of(other).toAbsolutePath();
			}
			try {
				Path unpacked = RedisExecProvider.defaultProvider().get().toPath();
				// Where it is deleted even if this JVM is killed
				Path executable = Files.move(unpacked, newDirectory("executable").resolve(unpacked.getFileName()));
				Objects.requireNonNull(unpacked.getParent()).toFile().delete();
				return executable.toAbsolutePath();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
