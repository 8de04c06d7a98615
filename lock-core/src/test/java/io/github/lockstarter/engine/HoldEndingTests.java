// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Several threads may exit a hold at once, and each of them sees how it has ended.
 */
class HoldEndingTests {

	private final HoldEnding ending = new HoldEnding();

	@Test
	void aReleaseIsPublishedOnce() {
		assertThat(this.ending.beginPublishing()).isFalse();
		this.ending.end(true, false);
		assertThat(this.ending.beginPublishing()).isTrue();
		assertThat(this.ending.beginPublishing()).isFalse();
	}

	@Test
	void aLockThatIsKeptIsPublishedOnce() {
		this.ending.end(true, true);
		assertThat(this.ending.isKept()).isTrue();
		assertThat(this.ending.beginPublishing()).isTrue();
		assertThat(this.ending.beginPublishing()).isFalse();
	}

	@Test
	void aLossIsNotPublishedAsARelease() {
		this.ending.end(false, true);
		assertThat(this.ending.isLost()).isTrue();
		assertThat(this.ending.beginPublishing()).isFalse();
	}

}
