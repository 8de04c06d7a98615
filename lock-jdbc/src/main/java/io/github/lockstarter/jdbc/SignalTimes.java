// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;

/**
 * How long a {@link ReleaseSignal} does what.
 *
 * @param idle how long the connection for messages stays open while this JVM waits for no
 * lock
 * @param test how long the message of a test may take
 * @param untested how long no message is expected after a test has failed
 * @param waited how long this JVM waits for a lock after its last request for it
 * @param reaction how long the request of this JVM may take after the message that it is
 * its turn
 */
record SignalTimes(Duration idle, Duration test, Duration untested, Duration waited, Duration reaction) {

	static final SignalTimes DEFAULTS = new SignalTimes(Duration.ofMinutes(1), Duration.ofSeconds(3),
			Duration.ofMinutes(1), Line.LIFE, Duration.ofMillis(100));

}
