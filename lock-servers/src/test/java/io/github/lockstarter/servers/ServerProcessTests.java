// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

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
		try (WorkerJvm jvm = WorkerJvm.start(Owner.class)) {
			long server = Long.parseLong(jvm.readLine());
			Path directory = Path.of(jvm.readLine());
			assertThat(ProcessHandle.of(server)).isPresent();
			assertThat(directory).exists();
			// This JVM alone, and not what it has started
			ServerProcess.signal("KILL", jvm.pid());
			await().until(() -> ProcessHandle.of(server).isEmpty());
			await().until(() -> !directory.toFile().exists());
			jvm.restart();
			assertThat(Long.parseLong(jvm.readLine())).isNotEqualTo(server);
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
