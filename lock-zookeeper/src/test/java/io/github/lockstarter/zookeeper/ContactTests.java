// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.util.Random;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ContactTests {

	private static final long TIMEOUT = 1200;

	/** Times of {@link System#nanoTime()} may overflow. */
	private static final long START = Long.MAX_VALUE - 500;

	private final Contact contact = new Contact();

	ContactTests() {
		this.contact.begin(START);
	}

	@Test
	void aNewConnectionIsSureAtOnceAndForSevenTwelfthsOfTheTimeout() {
		assertThat(isSureAt(0)).isTrue();
		assertThat(isSureAt(700)).isTrue();
		assertThat(isSureAt(701)).isFalse();
	}

	@Test
	void aConnectionThatWasNoticedLateIsNotNew() {
		this.contact.begin(START - 701);
		assertThat(isSureAt(0)).isFalse();
		heard(0, 5);
		assertThat(isSureAt(304)).isFalse();
		assertThat(isSureAt(305)).isTrue();
	}

	@Test
	void anAnswerCountsFromItsRequestWhenTheLeaderHasHeardOfIt() {
		heard(300, 390);
		heard(400, 410);
		assertThat(isSureAt(709)).isTrue();
		assertThat(isSureAt(1100)).isTrue();
		assertThat(isSureAt(1101)).isFalse();
	}

	@Test
	void afterASilenceTheLeaderNeedsTimeToHearOfTheSession() {
		heard(1100, 1110);
		assertThat(isSureAt(1111)).isFalse();
		assertThat(isSureAt(1409)).isFalse();
		assertThat(isSureAt(1410)).isTrue();
		assertThat(isSureAt(1801)).as("silent again").isFalse();
	}

	/** The requests are sent in time, but all of them arrive at its end. */
	@Test
	void aStalledNetworkIsASilenceToo() {
		for (long sentAt = 0; sentAt <= 720; sentAt += 100) {
			heard(sentAt, 720);
		}
		assertThat(isSureAt(720)).isFalse();
		assertThat(isSureAt(1019)).isFalse();
		assertThat(isSureAt(1020)).isTrue();
	}

	@Test
	void aNewConnectionEndsASilence() {
		heard(1100, 1110);
		this.contact.begin(START + 1120);
		assertThat(isSureAt(1121)).isTrue();
	}

	/**
	 * Requests arrive at a random time before their answer, and the member has reported
	 * all but those of the last quarter when it loses the leader.
	 */
	@Test
	void theSessionOutlastsEachLeaseForWhichItIsSure() {
		Random random = new Random(1);
		for (int run = 0; run < 10_000; run++) {
			Contact contact = new Contact();
			contact.begin(START);
			long[] arrivals = new long[20];
			long lastArrival = 0;
			long lastAnswer = 0;
			for (int i = 0; i < arrivals.length; i++) {
				long sentAt = Math.max(lastAnswer - random.nextInt(700), i * 100L);
				lastArrival = Math.max(lastArrival, sentAt) + random.nextInt(300) * random.nextInt(2);
				arrivals[i] = lastArrival;
				lastAnswer = Math.max(lastAnswer, lastArrival) + random.nextInt(300) * random.nextInt(2);
				contact.heard(START + sentAt, START + lastAnswer, TIMEOUT);
				lastAnswer += random.nextInt(100) * random.nextInt(2);
				long known = 0;
				for (int j = 0; j <= i && arrivals[j] <= lastAnswer - TIMEOUT / 4; j++) {
					known = arrivals[j];
				}
				if (contact.isSure(START + lastAnswer, TIMEOUT)) {
					assertThat(known + TIMEOUT).isGreaterThan(lastAnswer + TIMEOUT * 2 / 5);
				}
			}
		}
	}

	private void heard(long sentAt, long answeredAt) {
		this.contact.heard(START + sentAt, START + answeredAt, TIMEOUT);
	}

	private boolean isSureAt(long time) {
		return this.contact.isSure(START + time, TIMEOUT);
	}

}
