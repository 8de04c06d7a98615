// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

import io.github.lockstarter.test.SafetyViolation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

class SecondRunsTests {

	@TempDir
	private Path directory;

	private Path flakes;

	@BeforeEach
	void noteFlakes() {
		this.flakes = this.directory.resolve("target").resolve("flakes.csv");
		System.setProperty(SecondRuns.FILE_PROPERTY, this.flakes.toString());
		Example.runs = 0;
	}

	@AfterEach
	void forget() {
		System.clearProperty(SecondRuns.FILE_PROPERTY);
	}

	@Test
	void aTestThatSucceedsAtTheSecondTimeIsAFlake() throws IOException {
		run("failsOnce").assertStatistics((events) -> events.failed(1));
		assertThat(this.flakes).doesNotExist();
		run("failsOnce").assertStatistics((events) -> events.succeeded(1));
		assertThat(Files.readAllLines(this.flakes)).singleElement()
			.asString()
			.startsWith(Example.class.getName() + ",\"failsOnce failsOnce()\",")
			.endsWith("\"java.lang.AssertionError: Says \"\"no\"\" once\"");
	}

	@Test
	void aTestThatFailsWhileTheMachineStandsStillIsNoFlake() {
		run("failsInAStandstill").assertStatistics((events) -> events.failed(1));
		run("failsInAStandstill").assertStatistics((events) -> events.succeeded(1));
		assertThat(this.flakes).doesNotExist();
	}

	@Test
	void aTestThatSucceedsAtOnceIsNoFlake() {
		run("succeeds").assertStatistics((events) -> events.succeeded(1));
		assertThat(this.flakes).doesNotExist();
	}

	@ParameterizedTest
	@ValueSource(strings = { "violatesSafetyOnce", "violatesSafetyAfterAnotherFailure", "violatesSafetyInText",
			"violatesSafetyForAnElement" })
	void aViolationOfSafetyFailsTheSecondRunAsWell(String method) {
		run(method).assertStatistics((events) -> events.failed(1));
		run(method).assertStatistics((events) -> events.failed(1));
		assertThat(Example.runs).isOne();
		assertThat(this.flakes).doesNotExist();
	}

	private static Events run(String method) {
		return EngineTestKit.engine("junit-jupiter")
			.selectors(selectMethod(Example.class, method))
			.configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
			.execute()
			.testEvents();
	}

	/** Its tests run only when the tests above select them. */
	static class Example {

		static int runs;

		@Test
		void succeeds() {
		}

		@Test
		void failsOnce() {
			if (runs++ == 0) {
				throw new AssertionError("Says \"no\" once");
			}
		}

		@Test
		void failsInAStandstill() {
			if (runs++ == 0) {
				SecondRuns.HEARTBEAT.beat(System.nanoTime() + SecondRuns.STANDSTILL.toNanos());
				throw new AssertionError("too late");
			}
		}

		@Test
		void violatesSafetyOnce() throws ExecutionException {
			if (runs++ == 0) {
				throw new ExecutionException(new SafetyViolation("Two owners"));
			}
		}

		@Test
		void violatesSafetyInText() {
			if (runs++ == 0) {
				assertThat(CompletableFuture.failedFuture(new SafetyViolation("Two owners")))
					.succeedsWithin(Duration.ZERO);
			}
		}

		@Test
		void violatesSafetyForAnElement() {
			if (runs++ == 0) {
				assertThat(List.of(1)).allSatisfy((element) -> SafetyViolation.check(element > 1, "Two owners"));
			}
		}

		@Test
		void violatesSafetyAfterAnotherFailure() {
			if (runs++ == 0) {
				AssertionError first = new AssertionError("too late");
				first.addSuppressed(new ExecutionException(new SafetyViolation("Two owners")));
				throw first;
			}
		}

	}

}
