// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;

import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.RowKey;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A message that reaches this JVM on two ways counts once.
 */
@Order(1)
class WaitedLocksTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final String ROW = RowKey.of(KEY);

	private final WaitedLocks waited = new WaitedLocks(Duration.ofMinutes(1));

	@Test
	void aMessageIsSeenOnce() {
		this.waited.note(ROW, KEY, true);
		assertThat(this.waited.see(ROW, 2)).isEqualTo(KEY);
		assertThat(this.waited.see(ROW, 2)).isNull();
		assertThat(this.waited.see(ROW, 1)).isNull();
		assertThat(this.waited.see(ROW, 3)).isEqualTo(KEY);
	}

	@Test
	void aMessageThatWasSeenStaysSeenWhileTheJvmWaits() {
		this.waited.note(ROW, KEY, true);
		this.waited.see(ROW, 2);
		this.waited.note(ROW, KEY, true);
		assertThat(this.waited.see(ROW, 2)).isNull();
	}

	@Test
	void aMessageForNobodyIsIgnored() {
		assertThat(this.waited.see(ROW, 1)).isNull();
		this.waited.note(ROW, KEY, true);
		this.waited.note(ROW, KEY, false);
		assertThat(this.waited.see(ROW, 1)).isNull();
	}

}
