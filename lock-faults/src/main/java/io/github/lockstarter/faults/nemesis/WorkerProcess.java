// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.github.lockstarter.faults.worker.FaultWorker;
import io.github.lockstarter.servers.ServerProcess;

/**
 * A worker in a separate process, which can be paused and killed.
 */
public final class WorkerProcess implements AutoCloseable {

	private static final long PATIENCE_SECONDS = 180;

	private final String name;

	private final Process process;

	private final BufferedReader output;

	private WorkerProcess(String name, Process process) {
		this.name = name;
		this.process = process;
		this.output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
	}

	/**
	 * Start a worker.
	 * @param name its name in histories
	 * @param log file for its error output
	 */
	public static WorkerProcess start(String name, Path log, List<String> arguments) throws IOException {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx192m",
						"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"),
						FaultWorker.class.getName()));
		command.addAll(arguments);
		Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
			.start();
		Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
		return new WorkerProcess(name, process);
	}

	String name() {
		return this.name;
	}

	/**
	 * Send a command to the worker.
	 */
	public void say(String line) throws IOException {
		this.process.getOutputStream().write((line + System.lineSeparator()).getBytes(StandardCharsets.UTF_8));
		this.process.getOutputStream().flush();
	}

	/**
	 * Wait for a line that starts with a word.
	 * @return the next word, or an empty text
	 * @throws IOException if the worker has died, or hangs
	 */
	public String await(String word) throws Exception {
		try {
			return CompletableFuture.supplyAsync(() -> find(word), (task) -> new Thread(task).start())
				.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
		}
		catch (TimeoutException ex) {
			throw new IOException("A worker hangs instead of being '" + word + "'", ex);
		}
	}

	private String find(String word) {
		return this.output.lines()
			.filter((line) -> line.startsWith(word))
			.findFirst()
			.map((line) -> line.substring(word.length()).strip())
			.orElseThrow(() -> new IllegalStateException("A worker ended before it was '" + word + "'"));
	}

	/**
	 * Pause the worker.
	 */
	public void pause() {
		ServerProcess.signal("STOP", this.process.pid());
	}

	/**
	 * Resume the worker.
	 */
	public void proceed() {
		ServerProcess.signal("CONT", this.process.pid());
	}

	/**
	 * End the worker as {@code kill -9} does.
	 */
	public void kill() throws InterruptedException {
		this.process.destroyForcibly().waitFor();
	}

	@Override
	public void close() {
		this.process.destroyForcibly();
	}

}
