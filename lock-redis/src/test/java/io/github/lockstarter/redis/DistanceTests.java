// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How long a free lock is reserved for an instance.
 */
class DistanceTests {

	private final Distance distance = new Distance();

	@ParameterizedTest
	@CsvSource({ "0, 20", "3, 20", "5, 40", "10, 40", "30, 160", "100, 320", "400, 1280", "5000, 1280" })
	void isThreeRoundTripsAndTheTimeToReactUpToABound(long roundTrip, long kept) {
		for (int i = 0; i < 100; i++) {
			measured(roundTrip);
		}
		assertThat(kept()).isEqualTo(kept);
	}

	@Test
	void aJvmWithoutAnAnswerSoFarMayBeFarAway() {
		assertThat(kept()).isEqualTo(320);
	}

	@Test
	void followsAShorterTimeAtOnceAndLongerOnesSlowly() {
		measured(1);
		assertThat(kept()).isEqualTo(20);
		measured(30);
		assertThat(kept()).isEqualTo(40);
		for (int i = 0; i < 30; i++) {
			measured(30);
		}
		assertThat(kept()).isEqualTo(160);
	}

	private void measured(long millis) {
		this.distance.measured(TimeUnit.MILLISECONDS.toNanos(millis));
	}

	private long kept() {
		return 20L << Integer.parseInt(new String(this.distance.need(), StandardCharsets.UTF_8));
	}

}
