// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * For how long a lock is handed on.
 */
class TermsTests {

	private static final long SLICE = EngineSettings.DEFAULTS.timeSlice().toNanos();

	private final Terms terms = new Terms(EngineSettings.DEFAULTS, new ManualTime());

	@Test
	void oneSliceNearTheStore() {
		assertThat(this.terms.slice(0)).isEqualTo(SLICE);
		assertThat(this.terms.slice(SLICE / 20)).isEqualTo(SLICE);
	}

	@Test
	void twentyRoundTripsToAStoreThatIsFarAway() {
		this.terms.slice(SLICE / 5);
		assertThat(this.terms.slice(SLICE / 5)).isEqualTo(4 * SLICE);
		assertThat(this.terms.slice(SLICE / 5)).isEqualTo(4 * SLICE);
		assertThat(this.terms.slice(SLICE / 10)).isEqualTo(2 * SLICE);
	}

	@Test
	void aSingleLateAnswerDoublesItAtMost() {
		assertThat(this.terms.slice(1000 * SLICE)).isEqualTo(2 * SLICE);
		assertThat(this.terms.slice(0)).isEqualTo(SLICE);
	}

	@Test
	void zeroHandsNothingOnHoweverFarAwayTheStoreIs() {
		EngineSettings defaults = EngineSettings.DEFAULTS;
		Terms strict = new Terms(new EngineSettings(defaults.waitTime(), defaults.leaseTime(),
				defaults.renewalsPerLease(), defaults.pollInterval(), defaults.pollIntervalWithoutMessages(),
				Duration.ZERO, defaults.shutdownTimeout(), defaults.outageTime()), new ManualTime());
		strict.slice(SLICE);
		assertThat(strict.slice(SLICE)).isZero();
	}

}
