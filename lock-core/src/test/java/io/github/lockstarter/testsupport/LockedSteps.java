// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;

/**
 * Threads of a JVM that repeat a step, each time with the lock held or, for comparison,
 * without it.
 */
public final class LockedSteps {

	private static final LockRequest REQUEST = LockRequest.of("counter").withWaitTime(Duration.ofMinutes(1));

	private LockedSteps() {
	}

	/**
	 * Say that this JVM is ready, wait for its turn, and run the steps of all threads.
	 * @param registry where the lock is acquired, or {@code null} without it
	 * @param threads the number of threads
	 * @param repetitions the number of steps of each thread
	 * @param step what a thread repeats
	 */
	public static void run(@Nullable LockRegistry registry, int threads, int repetitions, Step step) throws Exception {
		System.out.println("ready");
		System.in.read();
		List<Call<Boolean>> calls = new ArrayList<>();
		for (int i = 0; i < threads; i++) {
			calls.add(Callers.start(() -> {
				for (int n = 0; n < repetitions; n++) {
					try (Lease lease = (registry != null) ? registry.acquire(REQUEST) : null) {
						step.run();
					}
				}
				return true;
			}));
		}
		for (Call<Boolean> call : calls) {
			call.get();
		}
	}

	/**
	 * What a thread repeats.
	 */
	@FunctionalInterface
	public interface Step {

		void run() throws Exception;

	}

}
