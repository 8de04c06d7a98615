// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.scenarios;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.lockstarter.benchmarks.locks.Competitors;

/**
 * A separate process that runs a class of the benchmarks.
 */
final class Worker implements AutoCloseable {

	private final Process process;

	private final BufferedReader output;

	private Worker(Process process) {
		this.process = process;
		this.output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
	}

	static Worker start(Class<?> main, String... arguments) throws IOException {
		String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
		String versions = "-D" + Competitors.VERSIONS + "=" + System.getProperty(Competitors.VERSIONS, "");
		List<String> command = Stream
			.concat(Stream.of(java, "-Xmx512m", versions, "-cp", System.getProperty("java.class.path"), main.getName()),
					Stream.of(arguments))
			.toList();
		Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
		Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
		return new Worker(process);
	}

	/**
	 * Return the words of the next line that begins with a word.
	 */
	String[] await(String word) throws IOException {
		for (String line = this.output.readLine(); line != null; line = this.output.readLine()) {
			if (line.startsWith(word)) {
				return line.split(" ");
			}
		}
		throw new IOException("The worker ended before it said '" + word + "'");
	}

	void say(String line) throws IOException {
		this.process.getOutputStream().write((line + System.lineSeparator()).getBytes(StandardCharsets.UTF_8));
		this.process.getOutputStream().flush();
	}

	/**
	 * End the process as {@code kill -9} does.
	 */
	void kill() throws InterruptedException {
		this.process.destroyForcibly().waitFor();
	}

	@Override
	public void close() throws InterruptedException {
		if (!this.process.waitFor(10, TimeUnit.SECONDS)) {
			kill();
		}
	}

}
