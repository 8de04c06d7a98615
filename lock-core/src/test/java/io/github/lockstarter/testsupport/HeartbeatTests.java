// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class HeartbeatTests {

	@Test
	void theLongestGapIsThatBetweenTwoBeats() {
		Heartbeat heartbeat = new Heartbeat(100);
		heartbeat.beat(110);
		heartbeat.beat(400);
		heartbeat.beat(410);
		assertThat(heartbeat.longestGap(420)).isEqualTo(Duration.ofNanos(290));
	}

	@Test
	void aMachineThatStillStandsStillIsNoticed() {
		Heartbeat heartbeat = new Heartbeat(100);
		heartbeat.beat(110);
		assertThat(heartbeat.longestGap(710)).isEqualTo(Duration.ofNanos(600));
	}

	@Test
	void aHeartThatWasStartedBeats() {
		try (Heartbeat heartbeat = Heartbeat.start()) {
			long later = System.nanoTime() + Duration.ofHours(1).toNanos();
			Duration sinceStart = heartbeat.longestGap(later);
			Awaitility.await().until(() -> heartbeat.longestGap(later).compareTo(sinceStart) < 0);
		}
	}

}
