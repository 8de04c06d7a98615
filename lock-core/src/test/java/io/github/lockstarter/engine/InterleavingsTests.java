// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.locks.ReentrantLock;

import org.jetbrains.lincheck.LincheckAssertionError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A game that really hangs is reported, however often it is checked.
 */
@FullProfileOnly
class InterleavingsTests {

	@Test
	@EnabledForJreRange(max = JRE.JAVA_21, disabledReason = "Lincheck 3.7 sees hangs on JDK 25 where there are none")
	void aDeadlockIsReported() {
		assertThatExceptionOfType(LincheckAssertionError.class)
			.isThrownBy(() -> Interleavings.check(InterleavingsTests::lockInTwoOrders));
	}

	private static void lockInTwoOrders() {
		ReentrantLock first = new ReentrantLock();
		ReentrantLock second = new ReentrantLock();
		Thread other = new Thread(() -> lock(second, first));
		other.start();
		lock(first, second);
		try {
			other.join();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void lock(ReentrantLock first, ReentrantLock second) {
		first.lock();
		second.lock();
		second.unlock();
		first.unlock();
	}

}
