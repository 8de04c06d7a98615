// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.engine.ModelDesk.ModelWaiter;
import io.github.lockstarter.testsupport.FullProfileOnly;

/**
 * Checks the state machine of a shared lock inside a JVM, in many interleavings of
 * readers that arrive and leave, a writer that withdraws, and a disturbance.
 */
@FullProfileOnly
class SharedLockModelTests {

	@ParameterizedTest
	@EnumSource
	@EnabledForJreRange(max = JRE.JAVA_21, disabledReason = "Lincheck 3.7 sees hangs on JDK 25 where there are none")
	void nobodyIsStrandedAndNoWriterHoldsBesideAnother(Disturbance disturbance) {
		Interleavings.check(() -> play(disturbance));
	}

	/**
	 * One lock with a reader that releases it, a waiting writer that withdraws, another
	 * reader that arrives and a disturbance, each on a thread of its own.
	 */
	private static void play(Disturbance disturbance) {
		ModelDesk desk = new ModelDesk(
				(disturbance == Disturbance.READER_ASKS_WHILE_HELD) ? Duration.ZERO : Duration.ofDays(1));
		Hold first = desk.hold(desk.come(LockMode.READ));
		ModelWaiter writer = desk.come(LockMode.WRITE);
		if (disturbance == Disturbance.WRITER_GONE) {
			desk.leave(writer);
		}
		ModelDesk.run(() -> desk.leave(first), () -> {
			if (disturbance != Disturbance.WRITER_GONE) {
				desk.leave(writer);
			}
		}, () -> desk.leave(desk.come(LockMode.READ)), () -> disturb(desk, disturbance, first));
		desk.checkEnd();
	}

	private static void disturb(ModelDesk desk, Disturbance disturbance, Hold first) {
		switch (disturbance) {
			case OWNERSHIP_LOST -> desk.lose(first.ownership());
			case LEASE_TIME_OVER -> desk.timeOver(first);
			case MESSAGE -> desk.notifyLock();
			case SHUTDOWN -> desk.shutDown();
			case NONE, WRITER_GONE, READER_ASKS_WHILE_HELD -> {
			}
		}
	}

	/**
	 * An event between the arrivals and departures.
	 */
	private enum Disturbance {

		NONE, WRITER_GONE, OWNERSHIP_LOST, LEASE_TIME_OVER, MESSAGE, SHUTDOWN, READER_ASKS_WHILE_HELD

	}

}
