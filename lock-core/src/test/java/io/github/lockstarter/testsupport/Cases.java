// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks the cases of a table in one test. All of them are checked, and the failure names
 * each that fails.
 */
public final class Cases {

	private Cases() {
	}

	/**
	 * Check each value.
	 */
	public static <T extends @Nullable Object> void each(Iterable<T> values, OfOne<T> check) {
		assertThat(values).isNotEmpty().allSatisfy((value) -> {
			try {
				check.check(value);
			}
			catch (Exception | LinkageError | StackOverflowError ex) {
				// AssertJ would end at the first of these
				throw new AssertionError(ex.toString(), ex);
			}
		});
	}

	/**
	 * Check each pair, such as a value and what is expected of it.
	 */
	public static <A, B> void pairs(Iterable<Map.Entry<A, B>> pairs, OfTwo<A, B> check) {
		each(pairs, (pair) -> check.check(pair.getKey(), pair.getValue()));
	}

	/**
	 * Check each line of a table with two columns, which <code>|</code> separates.
	 */
	public static void rows(String table, OfTwo<String, String> check) {
		each(cells(table, 2), (row) -> check.check(row.get(0), row.get(1)));
	}

	/**
	 * Check each line of a table with three columns, which <code>|</code> separates.
	 */
	public static void rows(String table, OfThree check) {
		each(cells(table, 3), (row) -> check.check(row.get(0), row.get(1), row.get(2)));
	}

	private static List<List<String>> cells(String table, int columns) {
		List<List<String>> rows = table.lines()
			.map((row) -> Arrays.stream(row.split("\\|", -1)).map(String::strip).toList())
			.toList();
		assertThat(rows).allSatisfy((row) -> assertThat(row).hasSize(columns));
		return rows;
	}

	/** A check of a case with one value. */
	@FunctionalInterface
	public interface OfOne<T extends @Nullable Object> {

		void check(T value) throws Exception;

	}

	/** A check of a case with two values. */
	@FunctionalInterface
	public interface OfTwo<A, B> {

		void check(A first, B second) throws Exception;

	}

	/** A check of a row with three cells. */
	@FunctionalInterface
	public interface OfThree {

		void check(String first, String second, String third) throws Exception;

	}

}
