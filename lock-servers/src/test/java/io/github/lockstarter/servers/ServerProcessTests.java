// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Processes of servers end with the JVM that started them.
 */
class ServerProcessTests {

	@Test
	void theServersOfAKilledJvmEndAndLeaveNoFiles() throws Exception {
		Process jvm = new ProcessBuilder(ServerProcess.java(List.of(), Owner.class.getName())).start();
		try (BufferedReader output = new BufferedReader(
				new InputStreamReader(jvm.getInputStream(), StandardCharsets.UTF_8))) {
			long server = Long.parseLong(output.readLine());
			Path directory = Path.of(output.readLine());
			assertThat(ProcessHandle.of(server)).isPresent();
			assertThat(directory).exists();
			jvm.destroyForcibly().waitFor();
			await().until(() -> ProcessHandle.of(server).isEmpty());
			await().until(() -> !directory.toFile().exists());
		}
	}

	static final class Owner {

		public static void main(String[] args) throws Exception {
			Path directory = ServerProcess.newDirectory("sleeper");
			System.out.println(ServerProcess.start(List.of("sleep", "600"), Map.of(), directory).pid());
			System.out.println(directory);
			System.in.read();
		}

	}

}
