// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The keys of rows.
 */
class RowKeyTests {

	@Test
	void aShortKeyIsItsText() {
		assertThat(RowKey.of(LockKey.of("stock"))).isEqualTo("stock");
		assertThat(RowKey.of(LockKey.of("stock", "1001"))).isEqualTo("stock:1001");
	}

	@Test
	void noKeyEndsWithASpace() {
		assertThat(RowKey.of(LockKey.of("stock", "a "))).isEqualTo("stock:a%20");
		assertThat(RowKey.of(LockKey.of("stock", "a%20"))).isNotEqualTo("stock:a%20");
	}

	@Test
	void aLongKeyIsAHash() {
		String one = RowKey.of(LockKey.of("n".repeat(128), "x".repeat(512)));
		String other = RowKey.of(LockKey.of("n".repeat(128), "x".repeat(511)));
		assertThat(one).hasSizeLessThan(255).startsWith("n".repeat(128)).isNotEqualTo(other);
	}

	@Test
	void locksOfDifferentStoresHaveDifferentKeys() {
		LockKey key = LockKey.of("n".repeat(128), "x".repeat(512));
		assertThat(RowKey.of("redis/", key)).isNotEqualTo(RowKey.of("jdbc/", key)).hasSizeLessThan(255);
		assertThat(RowKey.of("redis/", LockKey.of("stock"))).isEqualTo("redis/stock");
	}

}
