// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * A further JVM, which runs a class of this one and talks to it in lines. It can be
 * paused and killed, and ends with this JVM, however that ends.
 */
public final class WorkerJvm implements AutoCloseable {

	private static final long PATIENCE_SECONDS = 180;

	private final Process process;

	private final BufferedReader output;

	private WorkerJvm(Process process) {
		this.process = process;
		this.output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
	}

	/**
	 * Start a class with a main method; its standard error is that of this JVM, and has
	 * its log.
	 */
	public static WorkerJvm start(Class<?> main, Object... arguments) {
		return start(List.of(), ProcessBuilder.Redirect.INHERIT, main, arguments);
	}

	/**
	 * Start a class with a main method.
	 * @param options of the JVM, also another class path; the later one of two applies
	 * @param errors where its standard error goes
	 */
	public static WorkerJvm start(List<String> options, ProcessBuilder.Redirect errors, Class<?> main,
			Object... arguments) {
		String[] texts = Stream.of(arguments).map(Object::toString).toArray(String[]::new);
		try {
			Process process = new ProcessBuilder(ServerProcess.java(options, main.getName(), texts))
				.redirectError(errors)
				.start();
			ServerProcess.Reaper.get().add(process.pid());
			return new WorkerJvm(process);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Send a line to the worker.
	 */
	public void say(String line) throws IOException {
		this.process.getOutputStream().write((line + System.lineSeparator()).getBytes(StandardCharsets.UTF_8));
		this.process.getOutputStream().flush();
	}

	/**
	 * Let a worker continue that waits for the end of its input.
	 */
	public void proceed() throws IOException {
		this.process.getOutputStream().close();
	}

	/**
	 * Return the next line that the worker prints.
	 */
	public String readLine() throws IOException, InterruptedException {
		return await("");
	}

	/**
	 * Wait for a line that starts with a word.
	 * @return the rest of the line
	 * @throws IOException if the worker has ended, or hangs
	 */
	public String await(String word) throws IOException, InterruptedException {
		try {
			return CompletableFuture.supplyAsync(() -> find(word), (task) -> new Thread(task).start())
				.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
		}
		catch (ExecutionException ex) {
			throw new IOException("A worker ended before it said '" + word + "'", ex);
		}
		catch (TimeoutException ex) {
			throw new IOException("A worker hangs instead of saying '" + word + "'", ex);
		}
	}

	private String find(String word) {
		return this.output.lines()
			.filter((line) -> line.startsWith(word))
			.findFirst()
			.map((line) -> line.substring(word.length()).strip())
			.orElseThrow();
	}

	/**
	 * Wait until the worker has ended by itself.
	 * @throws IllegalStateException if it hangs, or its main method has failed
	 */
	public void awaitSuccess() throws InterruptedException {
		if (!this.process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
			throw new IllegalStateException("A worker hangs instead of ending");
		}
		if (this.process.exitValue() != 0) {
			throw new IllegalStateException("A worker ended with " + this.process.exitValue());
		}
	}

	public void pause() {
		ServerProcess.signal("STOP", this.process.pid());
	}

	public void resume() {
		ServerProcess.signal("CONT", this.process.pid());
	}

	/**
	 * Kill the worker as {@code kill -9} does.
	 */
	public void kill() {
		this.process.destroyForcibly().onExit().join();
		ServerProcess.Reaper.get().remove(this.process.pid());
	}

	@Override
	public void close() {
		kill();
	}

}
