// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.nio.file.Path;

import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
		// Without the real servers of other tests, so that the core is built beside them
		Process program = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
				classPath, ProgramWithoutSpring.class.getName())
			.redirectError(ProcessBuilder.Redirect.INHERIT)
			.start();
		assertThat(program.inputReader().lines()).containsExactly("grows: true", "annotated: true", "Spring: false");
		assertThat(program.waitFor()).isZero();
	}

}
