// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * JVMs that share servers.
 */
@Tag("clock")
class SharedServersTests {

	@TempDir
	private Path build;

	@Test
	@Tag("full")
	void eachPlaceIsEmpty() throws Exception {
		for (String url : List.of(SharedServers.postgres(), SharedServers.postgres(), SharedServers.mariaDb(),
				SharedServers.mariaDb())) {
			try (Connection connection = DriverManager.getConnection(url);
					Statement statement = connection.createStatement()) {
				statement.execute("create table t (a int)");
			}
		}
		assertThat(SharedServers.zooKeeper()).isNotEqualTo(SharedServers.zooKeeper());
	}

	@Test
	void jvmsThatAskAtTheSameMomentShareAServer() throws Exception {
		try (Jvm a = new Jvm(User.class); Jvm b = new Jvm(User.class)) {
			a.ask();
			b.ask();
			String[] first = a.answer();
			String[] second = b.answer();
			assertThat(first[0]).isEqualTo(second[0]);
			assertThat(first[1]).isNotEqualTo(second[1]);
		}
	}

	@Test
	void eachBuildHasAServerAsLongAsItLives() throws Exception {
		try (Jvm build = new Jvm(Build.class); Jvm other = new Jvm(Build.class)) {
			build.ask();
			other.ask();
			String port = build.answer()[0];
			assertThat(other.answer()).doesNotContain(port).contains("1");
			// Meanwhile it had no user
			build.ask();
			assertThat(build.answer()).containsExactly(port, "2");
			build.close();
			await().until(() -> ServerPort.isFree(Integer.parseInt(port)));
			await().untilAsserted(() -> assertThat(this.build.resolve("target/servers"))
				.isDirectoryNotContaining((path) -> path.toString().contains("build-" + build.process.pid())));
			other.ask();
			assertThat(other.answer()).contains("2");
		}
	}

	@Test
	void anotherHolderTakesThePlaceOfAKilledOne() throws Exception {
		try (Jvm a = new Jvm(User.class)) {
			a.ask();
			int port = Integer.parseInt(a.answer()[0]);
			killHolder();
			await().until(() -> ServerPort.isFree(port));
			a.ask();
			assertThat(a.answer()[1]).isEqualTo("1");
			try (Jvm b = new Jvm(User.class)) {
				b.ask();
				assertThat(b.answer()[1]).isEqualTo("2");
			}
		}
	}

	@Test
	@Tag("full")
	void aHolderWhoseFilesWereDeletedServesItsUsers() throws Exception {
		try (Jvm a = new Jvm(User.class); Jvm b = new Jvm(User.class)) {
			a.ask();
			a.answer();
			ServerProcess.delete(this.build.resolve("target"));
			b.ask();
			assertThat(b.answer()[1]).isEqualTo("1");
			a.ask();
			assertThat(a.answer()[1]).isEqualTo("2");
		}
	}

	@Test
	void theEndOfAllProcessesOfAUserLeavesTheServerToOthers() throws Exception {
		try (Jvm a = new Jvm(User.class); Jvm b = new Jvm(User.class)) {
			a.ask();
			String port = a.answer()[0];
			a.killGroup();
			b.ask();
			assertThat(b.answer()).containsExactly(port, "2");
		}
	}

	private void killHolder() throws IOException {
		try (Stream<Path> files = Files.walk(this.build.resolve("target/servers"))) {
			Path file = files.filter((path) -> path.endsWith("REDIS.lock")).findFirst().orElseThrow();
			ProcessHandle.of(Long.parseLong(Files.readString(file))).ifPresent(ProcessHandle::destroyForcibly);
		}
	}

	/**
	 * A JVM in the directory of the build.
	 */
	private final class Jvm implements AutoCloseable {

		private final Process process;

		private final BufferedReader output;

		Jvm(Class<?> main) throws IOException {
			Files.createDirectories(SharedServersTests.this.build.resolve(".mvn"));
			// The first process of a group, as in a terminal
			List<String> command = new ArrayList<>(List.of("setsid"));
			command.addAll(ServerProcess.java(List.of(), main.getName()));
			this.process = new ProcessBuilder(command).directory(SharedServersTests.this.build.toFile())
				.redirectError(ProcessBuilder.Redirect.INHERIT)
				.start();
			this.output = new BufferedReader(
					new InputStreamReader(this.process.getInputStream(), StandardCharsets.UTF_8));
		}

		void ask() throws IOException {
			this.process.getOutputStream().write('\n');
			this.process.getOutputStream().flush();
		}

		String[] answer() throws IOException {
			return this.output.readLine().split(" ");
		}

		void killGroup() {
			ServerProcess.signal("KILL", -this.process.pid());
			this.process.onExit().join();
		}

		@Override
		public void close() {
			this.process.destroyForcibly().onExit().join();
		}

	}

	/**
	 * Part of the build that these tests belong to.
	 */
	static final class User {

		public static void main(String[] args) throws Exception {
			while (System.in.read() >= 0) {
				SharedServers.RedisDatabase database = SharedServers.redis();
				System.out.println(database.port() + " " + database.number());
			}
		}

	}

	/**
	 * A build that starts a JVM for each question.
	 */
	static final class Build {

		public static void main(String[] args) throws Exception {
			while (System.in.read() >= 0) {
				Process user = new ProcessBuilder(ServerProcess.java(List.of(), User.class.getName()))
					.redirectOutput(ProcessBuilder.Redirect.INHERIT)
					.redirectError(ProcessBuilder.Redirect.INHERIT)
					.start();
				user.getOutputStream().write('\n');
				user.getOutputStream().close();
				user.waitFor();
			}
		}

	}

}
