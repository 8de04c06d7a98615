// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ContactTests {

	private static final long TIMEOUT = 1200;

	/** Times of {@link System#nanoTime()} may overflow. */
	private static final long START = Long.MAX_VALUE - 500;

	private final Contact contact = new Contact();

	ContactTests() {
		this.contact.begin(START, TIMEOUT);
	}

	@Test
	void aNewConnectionIsSureAtOnceAndForAThirdOfTheTimeout() {
		assertThat(isSureAt(0)).isTrue();
		assertThat(isSureAt(400)).isTrue();
		assertThat(isSureAt(401)).isFalse();
	}

	@Test
	void eachAnswerCountsFromItsRequest() {
		heard(300, 390);
		assertThat(isSureAt(700)).isTrue();
		assertThat(isSureAt(701)).isFalse();
		heard(690, 695);
		heard(500, 699);
		assertThat(isSureAt(1090)).isTrue();
	}

	@Test
	void afterASilenceTheLeaderNeedsTimeToHearOfTheSession() {
		heard(1100, 1110);
		assertThat(isSureAt(1111)).isFalse();
		assertThat(isSureAt(1409)).isFalse();
		assertThat(isSureAt(1410)).isTrue();
		assertThat(isSureAt(1501)).as("silent again").isFalse();
	}

	@Test
	void aNewConnectionEndsASilence() {
		heard(1100, 1110);
		this.contact.begin(START + 1120, TIMEOUT);
		assertThat(isSureAt(1121)).isTrue();
	}

	private void heard(long sentAt, long answeredAt) {
		this.contact.heard(START + sentAt, START + answeredAt, TIMEOUT);
	}

	private boolean isSureAt(long time) {
		return this.contact.isSure(START + time, TIMEOUT);
	}

}
