// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.nio.file.Path;
import java.util.List;

import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.lockstarter.servers.WorkerJvm;
import io.github.lockstarter.testsupport.ClassPath;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Locks in a program with only the core module and its dependencies.
 */
class WithoutSpringTests {

	@Test
	void theCoreNeedsNothingButNullnessAndALog(@TempDir Path folder) throws Exception {
		String classPath = ClassPath.of(LockKey.class, NullMarked.class, LogFactory.class)
			.andOnly(ProgramWithoutSpring.class, folder)
			.toString();
		try (WorkerJvm program = WorkerJvm.start(List.of("-cp", classPath), ProcessBuilder.Redirect.INHERIT,
				ProgramWithoutSpring.class)) {
			assertThat(program.readLine()).isEqualTo("grows: true");
			assertThat(program.readLine()).isEqualTo("annotated: true");
			assertThat(program.readLine()).isEqualTo("Spring: false");
			program.awaitSuccess();
		}
	}

}
