// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * JMeter without its GUI, in a separate process.
 */
final class JMeter {

	private final Path home;

	private final String jar;

	private final Path plan;

	private JMeter(Path home, String jar, Path plan) {
		this.home = home;
		this.jar = jar;
		this.plan = plan;
	}

	/**
	 * Return the JMeter installation that the Maven plugin has prepared.
	 */
	static JMeter configuredBy(Path configuration, Path plan) {
		JsonNode json = JsonMapper.shared().readTree(configuration).get("configurations").get(0);
		return new JMeter(Path.of(json.get("jmeterDirectoryPath").asString()), json.get("runtimeJarName").asString(),
				plan);
	}

	Result run(Path results, String... properties) throws IOException, InterruptedException {
		Files.deleteIfExists(results);
		List<String> command = new ArrayList<>();
		command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
		command.addAll(List.of("-Xmx512m", "-jar", this.jar, "-n", "-t", this.plan.toString(), "-l", results.toString(),
				"-j", results.resolveSibling("jmeter.log").toString(), "-Jjmeterengine.nongui.port=0",
				"-Jjmeter.save.saveservice.output_format=csv"));
		// The message of a failed request has several lines
		command.addAll(List.of("-Jjmeter.save.saveservice.response_message=false",
				"-Jjmeter.save.saveservice.assertion_results_failure_message=false"));
		command.addAll(List.of(properties));
		Process process = new ProcessBuilder(command).directory(this.home.resolve("bin").toFile())
			.redirectErrorStream(true)
			.redirectOutput(results.resolveSibling("jmeter.out").toFile())
			.start();
		try {
			if (process.waitFor() != 0) {
				throw new IOException(Files.readString(results.resolveSibling("jmeter.out")));
			}
		}
		finally {
			process.destroy();
		}
		return Result.read(results);
	}

	/**
	 * The measurements of JMeter, ordered by response time.
	 */
	record Result(List<Sample> samples) {

		static Result read(Path results) throws IOException {
			try (Stream<String> lines = Files.lines(results)) {
				return new Result(lines.skip(1).map(Sample::parse).sorted().toList());
			}
		}

		int requests() {
			return this.samples.size();
		}

		long count(String status) {
			return this.samples.stream().filter((sample) -> sample.status().equals(status)).count();
		}

		long errors() {
			return requests() - count("200") - count("409");
		}

		long percentile(int percent) {
			return this.samples.get((requests() - 1) * percent / 100).elapsed();
		}

		long perSecond() {
			long start = this.samples.stream().mapToLong(Sample::start).min().orElseThrow();
			long end = this.samples.stream()
				.mapToLong((sample) -> sample.start() + sample.elapsed())
				.max()
				.orElseThrow();
			return requests() * 1000L / Math.max(1, end - start);
		}

	}

	/**
	 * A request, from the first columns of JMeter's CSV.
	 */
	record Sample(long start, long elapsed, String status) implements Comparable<Sample> {

		static Sample parse(String line) {
			String[] columns = line.split(",", 5);
			return new Sample(Long.parseLong(columns[0]), Long.parseLong(columns[1]), columns[3]);
		}

		@Override
		public int compareTo(Sample other) {
			return Long.compare(this.elapsed, other.elapsed);
		}

	}

}
