// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * A further JVM, which runs a class of this one and talks to it in lines.
 */
public final class WorkerJvm extends ServerProcess {

	private BufferedReader output;

	private WorkerJvm(ProcessBuilder builder) {
		super(builder);
		this.output = process().inputReader(StandardCharsets.UTF_8);
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
		return new WorkerJvm(new ProcessBuilder(java(options, main.getName(), texts)).redirectError(errors));
	}

	@Override
	public void restart() {
		super.restart();
		this.output = process().inputReader(StandardCharsets.UTF_8);
	}

	/**
	 * Send a line to the worker.
	 */
	public void say(String line) throws IOException {
		process().getOutputStream().write((line + System.lineSeparator()).getBytes(StandardCharsets.UTF_8));
		process().getOutputStream().flush();
	}

	/**
	 * Let a worker continue that waits for the end of its input.
	 */
	public void proceed() throws IOException {
		process().getOutputStream().close();
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
				.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
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
		if (!process().waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
			throw new IllegalStateException("A worker hangs instead of ending");
		}
		if (process().exitValue() != 0) {
			throw new IllegalStateException("A worker ended with " + process().exitValue());
		}
	}

}
