// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A server in processes of its own, which can be paused, killed and started again.
 */
final class ServerProcess {

	/** On a busy machine, a database that was killed takes long to recover. */
	private static final Duration PATIENCE = Duration.ofMinutes(3);

	private final List<String> command;

	private final Map<String, String> environment;

	private final Path log;

	private Process process;

	/**
	 * Start the server.
	 * @param environment additional variables
	 * @param log file for its output
	 */
	ServerProcess(List<String> command, Map<String, String> environment, Path log) throws IOException {
		this.command = command;
		this.environment = environment;
		this.log = log;
		this.process = launch();
		Runtime.getRuntime().addShutdownHook(new Thread(this::kill));
	}

	/**
	 * Take the place of a server that was started by others: kill it, and start it again.
	 */
	static ServerProcess insteadOf(ProcessHandle other, Map<String, String> environment, Path log) throws IOException {
		List<String> command = new ArrayList<>();
		if ("root".equals(System.getProperty("user.name"))) {
			// Databases refuse to run as root
			command.addAll(List.of("unshare", "--user"));
		}
		command.add(other.info().command().orElseThrow());
		command.addAll(List.of(other.info().arguments().orElseThrow()));
		kill(other);
		return new ServerProcess(command, environment, log);
	}

	/**
	 * Start the server again after it was killed.
	 */
	void start() throws IOException {
		this.process = launch();
	}

	private Process launch() throws IOException {
		ProcessBuilder builder = new ProcessBuilder(this.command).redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.appendTo(this.log.toFile()));
		builder.environment().putAll(this.environment);
		return builder.start();
	}

	/**
	 * Kill all processes of the server as {@code kill -9} does.
	 */
	void kill() {
		kill(this.process.toHandle());
	}

	private static void kill(ProcessHandle server) {
		List<ProcessHandle> processes = tree(server);
		processes.forEach(ProcessHandle::destroyForcibly);
		processes.forEach((process) -> process.onExit().join());
	}

	/**
	 * Let no process of the server do anything.
	 */
	void pause() throws Exception {
		// The first one must not start others meanwhile
		Processes.stop(this.process.pid());
		for (ProcessHandle child : this.process.toHandle().descendants().toList()) {
			Processes.stop(child.pid());
		}
	}

	void resume() throws Exception {
		// The first one must not forget others that have ended meanwhile
		for (ProcessHandle child : this.process.toHandle().descendants().toList()) {
			Processes.proceed(child.pid());
		}
		Processes.proceed(this.process.pid());
	}

	/**
	 * Kill one of several processes of the server.
	 */
	static void kill(long pid) {
		ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
	}

	private static List<ProcessHandle> tree(ProcessHandle server) {
		return Stream.concat(Stream.of(server), server.descendants()).toList();
	}

	/**
	 * Wait until the server serves.
	 */
	static void await(String what, Condition condition) throws InterruptedException {
		long start = System.nanoTime();
		while (!condition.isMet()) {
			if (System.nanoTime() - start > PATIENCE.toNanos()) {
				throw new UncheckedIOException(new IOException(what + " does not serve"));
			}
			Thread.sleep(20);
		}
	}

	/**
	 * What to wait for.
	 */
	interface Condition {

		boolean isMet();

	}

}
