// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import redis.embedded.RedisExecProvider;

import org.springframework.util.FileSystemUtils;

/**
 * A real Redis server on a free port of the loopback address, without persistence. It can
 * be killed and started again, empty, on the same port.
 */
public final class EmbeddedRedis implements AutoCloseable {

	/** System property that names another {@code redis-server} than the embedded one. */
	public static final String EXECUTABLE_PROPERTY = "redis.executable";

	/** The distance from the port of a cluster node to its port for the other nodes. */
	private static final int CLUSTER_BUS = 10_000;

	private static final Path EXECUTABLE = executable();

	private final int port;

	private final Path executable;

	private final Map<String, String> environment;

	private final List<String> options;

	private final List<String> configuration;

	private final List<File> directories = new ArrayList<>();

	private Process process;

	private EmbeddedRedis(int port, List<String> options, String... configuration) {
		this(EXECUTABLE, Map.of(), port, options, configuration);
	}

	private EmbeddedRedis(Path executable, Map<String, String> environment, int port, List<String> options,
			String... configuration) {
		this.executable = executable;
		this.environment = environment;
		this.port = port;
		this.options = options;
		this.configuration = List.of(configuration);
		this.process = launch();
	}

	public static EmbeddedRedis start(String... options) {
		return new EmbeddedRedis(ServerPort.find(), List.of(options));
	}

	/**
	 * Start a server other than the embedded one.
	 * @param environment the environment variables of its process
	 */
	public static EmbeddedRedis start(Path executable, Map<String, String> environment) {
		return new EmbeddedRedis(executable, environment, ServerPort.find(), List.of());
	}

	/**
	 * Start a node of a cluster. Its port for the other nodes is the default one, because
	 * Redis 6.2 supports no other.
	 */
	static EmbeddedRedis startClusterNode(List<String> options) {
		int port = ServerPort.find();
		while (!ServerPort.isFree(port + CLUSTER_BUS)) {
			port = ServerPort.find();
		}
		return new EmbeddedRedis(port, options);
	}

	/**
	 * Start a replica of another server.
	 */
	public static EmbeddedRedis startReplicaOf(EmbeddedRedis primary) {
		return start("--replicaof", "127.0.0.1", String.valueOf(primary.port()));
	}

	/**
	 * Start a sentinel that watches a server and its replicas.
	 * @param name its name for them
	 */
	public static EmbeddedRedis startSentinelOf(EmbeddedRedis primary, String name) {
		try {
			Path configuration = Files.createTempFile("sentinel", ".conf");
			Files.writeString(configuration, """
					sentinel monitor %1$s 127.0.0.1 %2$d 1
					sentinel down-after-milliseconds %1$s 500
					sentinel failover-timeout %1$s 3000
					""".formatted(name, primary.port()));
			return new EmbeddedRedis(ServerPort.find(), List.of("--sentinel"), configuration.toString());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Start a server that also listens to TLS.
	 */
	public static EmbeddedRedis startWithTls(SelfSignedCertificate certificate) {
		return start("--tls-port", String.valueOf(ServerPort.find()), "--tls-cert-file",
				certificate.certificate().toString(), "--tls-key-file", certificate.key().toString(),
				"--tls-ca-cert-file", certificate.certificate().toString(), "--tls-auth-clients", "no");
	}

	public int tlsPort() {
		return Integer.parseInt(this.options.get(this.options.indexOf("--tls-port") + 1));
	}

	public int port() {
		return this.port;
	}

	public long pid() {
		return this.process.pid();
	}

	/**
	 * Kill the server as {@code kill -9} does.
	 */
	public void kill() {
		this.process.destroyForcibly();
		awaitEnd();
	}

	/**
	 * Start the server again after {@link #kill()}.
	 */
	public void restart() {
		this.process = launch();
	}

	/**
	 * Let the server accept connections without answering, until {@link #resume()}.
	 */
	public void pause() {
		signal("STOP");
	}

	/**
	 * Let the server continue after {@link #pause()}, with all pending requests.
	 */
	public void resume() {
		signal("CONT");
	}

	private void signal(String name) {
		try {
			new ProcessBuilder("kill", "-" + name, String.valueOf(pid())).start().waitFor();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
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
		Matcher calls = Pattern.compile("cmdstat_" + command + ":calls=(\\d+)")
			.matcher(command("INFO", "commandstats"));
		return calls.find() ? Long.parseLong(calls.group(1)) : 0;
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

	@Override
	public void close() {
		if (this.process.isAlive()) {
			resume();
		}
		this.process.destroy();
		awaitEnd();
		this.directories.forEach(FileSystemUtils::deleteRecursively);
	}

	private Process launch() {
		List<String> command = new ArrayList<>(List.of(this.executable.toString()));
		command.addAll(this.configuration);
		command.addAll(List.of("--port", String.valueOf(this.port), "--bind", "127.0.0.1"));
		if (this.configuration.isEmpty()) {
			command.addAll(List.of("--save", "", "--appendonly", "no", "--repl-diskless-sync-delay", "0"));
		}
		command.addAll(this.options);
		try {
			// A replica writes the received data into its directory, and would load it
			// again
			Path directory = Files.createTempDirectory("redis");
			this.directories.add(directory.toFile());
			ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile())
				.redirectOutput(ProcessBuilder.Redirect.DISCARD)
				.redirectError(ProcessBuilder.Redirect.DISCARD);
			builder.environment().putAll(this.environment);
			Process started = builder.start();
			Runtime.getRuntime().addShutdownHook(new Thread(started::destroyForcibly));
			awaitAnswer(started);
			return started;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void awaitAnswer(Process started) {
		while (true) {
			try (RedisSocket socket = new RedisSocket(this.port)) {
				socket.command("PING");
				return;
			}
			catch (UncheckedIOException ex) {
				if (!started.isAlive()) {
					throw new IllegalStateException("redis-server ended with " + started.exitValue(), ex);
				}
				Thread.onSpinWait();
			}
		}
	}

	private void awaitEnd() {
		try {
			this.process.waitFor();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private static Path executable() {
		String other = System.getProperty(EXECUTABLE_PROPERTY);
		if (other != null) {
			// An archive may not have kept the permission
			new File(other).setExecutable(true);
			return Path.of(other).toAbsolutePath();
		}
		try {
			File file = RedisExecProvider.defaultProvider().get();
			return file.toPath().toAbsolutePath();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
