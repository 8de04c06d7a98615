// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.servers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A separate process that runs a class of the benchmarks, with their system properties.
 */
public final class Worker implements AutoCloseable {

	private final Process process;

	private final BufferedReader output;

	private Worker(Process process) {
		this.process = process;
		this.output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
	}

	public static Worker start(Class<?> main, String... arguments) throws IOException {
		String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
		List<String> command = new ArrayList<>(List.of(java, "-Xmx512m"));
		System.getProperties()
			.stringPropertyNames()
			.stream()
			.filter((name) -> name.startsWith("benchmark."))
			.map((name) -> "-D" + name + "=" + System.getProperty(name))
			.forEach(command::add);
		command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
		command.addAll(List.of(arguments));
		Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
		Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
		return new Worker(process);
	}

	/**
	 * Return the words of the next line that begins with a word.
	 */
	public String[] await(String word) throws IOException {
		for (String line = this.output.readLine(); line != null; line = this.output.readLine()) {
			if (line.startsWith(word)) {
				return line.split(" ");
			}
		}
		throw new IOException("The worker ended before it said '" + word + "'");
	}

	public void say(String line) throws IOException {
		this.process.getOutputStream().write((line + System.lineSeparator()).getBytes(StandardCharsets.UTF_8));
		this.process.getOutputStream().flush();
	}

	/**
	 * End the process as {@code kill -9} does.
	 */
	public void kill() throws InterruptedException {
		this.process.destroyForcibly().waitFor();
	}

	@Override
	public void close() throws InterruptedException {
		if (!this.process.waitFor(10, TimeUnit.SECONDS)) {
			kill();
		}
	}

}
