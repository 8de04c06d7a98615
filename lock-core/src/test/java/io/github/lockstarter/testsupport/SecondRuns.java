// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

import io.github.lockstarter.test.SafetyViolation;

/**
 * Judges the tests that the build may run a second time, those on the real clock: a
 * {@link SafetyViolation} fails the second run as well, whatever happens in it. A test
 * that fails and then succeeds is a flake. It counts as the machine's if the machine
 * stood still meanwhile; any other one becomes a line of {@code target/flakes.csv}. What
 * fails before or after all tests of a class needs no judge, because the build fails
 * whatever a second run says. JUnit finds this {@link Extension} by itself.
 */
public class SecondRuns implements BeforeEachCallback, TestWatcher {

	/** System property with the file of the flakes; without it none is noted. */
	static final String FILE_PROPERTY = "flakes.file";

	/** From here on the machine is to blame. */
	static final Duration STANDSTILL = Duration.ofMillis(250);

	/** One for this JVM, which runs one test at a time. */
	static final Heartbeat HEARTBEAT = Heartbeat.start();

	static {
		// Surefire's time-out writes the threads of a JVM that hangs, but does not end it
		Integer timeout = Integer.getInteger("test.jvm.timeout");
		if (timeout != null) {
			CompletableFuture.delayedExecutor(timeout + 10, TimeUnit.SECONDS, Runnable::run)
				.execute(() -> Runtime.getRuntime().halt(1));
		}
	}

	/** The build repeats tests in the JVM in which they failed. */
	private static final Map<String, Failure> failures = new ConcurrentHashMap<>();

	@Override
	public void beforeEach(ExtensionContext context) {
		Failure failure = failures.get(context.getUniqueId());
		if (failure != null && failure.violation() != null) {
			throw failure.violation();
		}
		HEARTBEAT.restart(System.nanoTime());
	}

	@Override
	public void testFailed(ExtensionContext context, @Nullable Throwable cause) {
		Duration gap = HEARTBEAT.longestGap(System.nanoTime());
		failures.put(context.getUniqueId(), new Failure(gap, violationIn(cause), String.valueOf(cause)));
	}

	@Override
	public void testSuccessful(ExtensionContext context) {
		Failure failure = failures.remove(context.getUniqueId());
		String file = System.getProperty(FILE_PROPERTY);
		if (failure != null && file != null && failure.gap().compareTo(STANDSTILL) < 0) {
			note(Path.of(file), context, failure);
		}
	}

	private static void note(Path file, ExtensionContext context, Failure failure) {
		String line = "%s,\"%s\",%d,\"%s\"%n".formatted(context.getRequiredTestClass().getName(),
				quoted(context.getRequiredTestMethod().getName() + " " + context.getDisplayName()),
				failure.gap().toMillis(), quoted(failure.message()));
		try {
			Files.createDirectories(file.toAbsolutePath().getParent());
			Files.writeString(file, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String quoted(String text) {
		return text.replace("\"", "\"\"").replaceAll("\\R", " ");
	}

	/**
	 * The errors of other threads arrive as causes, those after a first one as
	 * suppressed, and those of futures and processes as part of a message.
	 */
	private static @Nullable SafetyViolation violationIn(@Nullable Throwable failure) {
		if (failure == null || failure instanceof SafetyViolation) {
			return (SafetyViolation) failure;
		}
		String message = String.valueOf(failure.getMessage());
		if (message.contains(SafetyViolation.class.getName())) {
			return new SafetyViolation(message);
		}
		return Stream.concat(Stream.ofNullable(failure.getCause()), Stream.of(failure.getSuppressed()))
			.map(SecondRuns::violationIn)
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	/**
	 * A failed first run, and the longest time for which the machine stood still in it.
	 */
	private record Failure(Duration gap, @Nullable SafetyViolation violation, String message) {

	}

}
