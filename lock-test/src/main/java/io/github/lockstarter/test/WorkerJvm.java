// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A further JVM with the class path of the tests. It ends with the test that started it.
 */
public final class WorkerJvm implements AutoCloseable {

	private static final String LOG_TO_STANDARD_ERROR = "-Dlogback.configurationFile=io/github/lockstarter/test/worker-logback.xml";

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
		return start(List.of(LOG_TO_STANDARD_ERROR), main, arguments);
	}

	/**
	 * Start a class with a main method, with further options of the JVM.
	 */
	public static WorkerJvm start(List<String> options, Class<?> main, Object... arguments) {
		return startOn(System.getProperty("java.class.path"), options, main, arguments);
	}

	/**
	 * Start a class with a main method, with another class path.
	 */
	public static WorkerJvm startOn(String classPath, List<String> options, Class<?> main, Object... arguments) {
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1",
						"-XX:+UseSerialGC"));
		command.addAll(options);
		command.addAll(List.of("-cp", classPath, main.getName()));
		for (Object argument : arguments) {
			command.add(argument.toString());
		}
		try {
			return new WorkerJvm(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Return the next line that the worker prints.
	 */
	public String readLine() throws IOException {
		String line = this.output.readLine();
		assertThat(line).as("the worker ended without the expected line").isNotNull();
		return line;
	}

	/**
	 * Let a worker continue that waits for the end of its input.
	 */
	public void proceed() throws IOException {
		this.process.getOutputStream().close();
	}

	public void awaitSuccess() throws InterruptedException {
		assertThat(this.process.waitFor(120, TimeUnit.SECONDS)).as("the worker ended").isTrue();
		assertThat(this.process.exitValue()).isZero();
	}

	/**
	 * Kill the worker as {@code kill -9} does.
	 */
	public void kill() throws InterruptedException {
		this.process.destroyForcibly().waitFor();
	}

	@Override
	public void close() {
		this.process.destroyForcibly();
	}

}
