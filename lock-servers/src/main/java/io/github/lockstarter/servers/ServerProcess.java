// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * A server in processes of its own, or a further JVM, which can be paused, killed and
 * started again. It ends with this JVM, however that ends.
 */
public class ServerProcess implements AutoCloseable {

	/** On a busy machine, a database that was killed takes long to recover. */
	public static final Duration PATIENCE = Duration.ofMinutes(3);

	private final ProcessBuilder builder;

	/** With the log; deleted in the end. */
	private final @Nullable Path directory;

	private Process process;

	ServerProcess(List<String> command, Map<String, String> environment, Path directory) {
		this.builder = new ProcessBuilder(command).directory(directory.toFile())
			.redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.appendTo(directory.resolve("log").toFile()));
		this.builder.environment().putAll(environment);
		this.directory = directory;
		this.process = launch();
	}

	/**
	 * Start a process that talks to this JVM, and needs no directory.
	 */
	ServerProcess(ProcessBuilder builder) {
		this.builder = builder;
		this.directory = null;
		this.process = launch();
	}

	/**
	 * Start a server.
	 * @param environment additional variables
	 * @param directory where it runs, with its output in the file {@code log}; deleted in
	 * the end
	 */
	public static ServerProcess start(List<String> command, Map<String, String> environment, Path directory) {
		return new ServerProcess(command, environment, directory);
	}

	/**
	 * Create a directory for a server.
	 */
	public static Path newDirectory(String name) {
		try {
			return Files.createTempDirectory(Reaper.get().directory, name);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Return the command that runs a class in a JVM with the class path of this one.
	 * @param options of the JVM; the later one of two applies
	 */
	public static List<String> java(List<String> options, String main, String... arguments) {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx128m",
						"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
						"-Dlogback.configurationFile=io/github/lockstarter/servers/logback.xml"));
		// The class path may be relative to a directory that is not that of the process
		command.addAll(List.of("-cp",
				Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
					.map((entry) -> Path.of(entry).toAbsolutePath().toString())
					.collect(Collectors.joining(File.pathSeparator))));
		command.addAll(options);
		// In an executable jar of Spring Boot, only its launcher finds the classes
		command.addAll((ServerProcess.class.getClassLoader() == ClassLoader.getSystemClassLoader()) ? List.of(main)
				: List.of("-Dloader.main=" + main, "org.springframework.boot.loader.launch.PropertiesLauncher"));
		command.addAll(List.of(arguments));
		return command;
	}

	/**
	 * Return a command that is not run by root, which databases refuse.
	 */
	static List<String> withoutRoot(List<String> command) {
		return "root".equals(System.getProperty("user.name"))
				? Stream.concat(Stream.of("unshare", "--user"), command.stream()).toList() : command;
	}

	/**
	 * Run a command to its end.
	 * @param input what it reads
	 * @param log file for its output
	 */
	public static void run(List<String> command, byte[] input, Path log) {
		try {
			Process process = new ProcessBuilder(command).redirectErrorStream(true)
				.redirectOutput(log.toFile())
				.start();
			try (OutputStream output = process.getOutputStream()) {
				output.write(input);
			}
			if (process.waitFor() != 0) {
				throw new IOException(Files.readString(log));
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted", ex);
		}
	}

	private Process launch() {
		try {
			Process started = this.builder.start();
			Reaper.get().add(started.pid());
			return started;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	Process process() {
		return this.process;
	}

	public long pid() {
		return this.process.pid();
	}

	public boolean isAlive() {
		return this.process.isAlive();
	}

	/**
	 * Wait until the server serves.
	 */
	public void await(BooleanSupplier condition) {
		await(String.join(" ", this.builder.command()), () -> {
			if (!isAlive()) {
				throw new IllegalStateException(
						"%s ended with %d:%n%s".formatted(this.builder.command(), this.process.exitValue(), log()));
			}
			return condition.getAsBoolean();
		});
	}

	/**
	 * Wait for something that takes a server a while.
	 * @param what for the message of the exception
	 */
	public static void await(String what, BooleanSupplier condition) {
		long start = System.nanoTime();
		while (!condition.getAsBoolean()) {
			if (System.nanoTime() - start > PATIENCE.toNanos()) {
				throw new IllegalStateException(what + ": not ready after " + PATIENCE);
			}
			try {
				TimeUnit.MILLISECONDS.sleep(5);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IllegalStateException("Interrupted", ex);
			}
		}
	}

	private String log() {
		try {
			return (this.directory != null) ? Files.readString(this.directory.resolve("log")) : "";
		}
		catch (IOException ex) {
			return "no log: " + ex;
		}
	}

	/**
	 * Let no process of the server do anything, until {@link #resume()}.
	 */
	public void pause() {
		// The first one must not start others meanwhile
		signal("STOP", pid());
		this.process.descendants().forEach((child) -> signal("STOP", child.pid()));
	}

	/**
	 * Let the server continue after {@link #pause()}.
	 */
	public void resume() {
		// The first one must not forget others that have ended meanwhile
		this.process.descendants().forEach((child) -> signal("CONT", child.pid()));
		signal("CONT", pid());
	}

	/**
	 * Send a signal to any process.
	 * @param name as {@code kill} expects it
	 * @param pid the process, or a group of processes if negative
	 */
	public static void signal(String name, long pid) {
		try {
			new ProcessBuilder("kill", "-s", name, "--", Long.toString(pid)).start().waitFor();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * Kill all processes of the server as {@code kill -9} does.
	 */
	public void kill() {
		List<ProcessHandle> descendants = this.process.descendants().toList();
		this.process.destroyForcibly();
		descendants.forEach(ProcessHandle::destroyForcibly);
		this.process.onExit().join();
		await("The end of " + this.builder.command(), () -> descendants.stream().allMatch(ServerProcess::hasEnded));
		Reaper.get().remove(pid());
	}

	/**
	 * Return whether a process has freed its memory. On Linux, a child of a process that
	 * was killed stays a zombie until the first process of the system finds the time for
	 * it. One that has threads is also a zombie while they end.
	 */
	static boolean hasEnded(ProcessHandle process) {
		if (!process.isAlive()) {
			return true;
		}
		try {
			String status = Files.readString(Path.of("/proc", String.valueOf(process.pid()), "stat"));
			return status.charAt(status.lastIndexOf(')') + 2) == 'Z';
		}
		catch (IOException ex) {
			return !process.isAlive();
		}
	}

	/**
	 * Start the server again, after it was killed.
	 */
	public void restart() {
		kill();
		this.process = launch();
	}

	@Override
	public void close() {
		kill();
		if (this.directory != null) {
			delete(this.directory);
		}
	}

	static void delete(Path directory) {
		try (Stream<Path> files = Files.walk(directory)) {
			files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
		}
		catch (IOException | UncheckedIOException ex) {
			// The end of this JVM deletes the rest
		}
	}

	/**
	 * A shell that outlives this JVM for a moment: the end of its input is that of the
	 * JVM, however that ends, and then it kills the servers and deletes their files.
	 */
	static final class Reaper {

		private static final String SCRIPT = """
				trap '' INT TERM HUP
				all=
				while read -r line; do
					case $line in
						-*) rest=; for pid in $all; do [ "-$pid" = "$line" ] || rest="$rest $pid"; done; all=$rest ;;
						*) all="$all $line" ;;
					esac
				done
				[ -z "$all" ] || kill -9 $all
				sleep 1
				rm -rf "$1"
				""";

		private static @Nullable Reaper reaper;

		private final Path directory;

		private final Process shell;

		private Reaper() throws IOException {
			this.directory = Files.createTempDirectory("servers");
			this.shell = new ProcessBuilder("sh", "-c", SCRIPT, "sh", this.directory.toString())
				.redirectOutput(ProcessBuilder.Redirect.DISCARD)
				.redirectError(ProcessBuilder.Redirect.DISCARD)
				.start();
		}

		static synchronized Reaper get() {
			try {
				if (reaper == null) {
					reaper = new Reaper();
				}
				return reaper;
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		void add(long pid) throws IOException {
			write(pid + "\n");
		}

		void remove(long pid) {
			try {
				write("-" + pid + "\n");
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		private synchronized void write(String line) throws IOException {
			this.shell.getOutputStream().write(line.getBytes(StandardCharsets.US_ASCII));
			this.shell.getOutputStream().flush();
		}

	}

}
