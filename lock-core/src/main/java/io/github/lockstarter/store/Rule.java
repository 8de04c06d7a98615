// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.time.Duration;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * What a setting of the engine or of a store has to be. Who refuses a value names it as a
 * parameter or as a property, with the same text.
 *
 * @param <T> the type of the setting
 * @param test returns whether a value is allowed
 * @param text what the value must be, as the end of a sentence
 */
public record Rule<T>(Predicate<T> test, String text) {

	/**
	 * A time that is longer than zero.
	 */
	public static final Rule<Duration> POSITIVE = new Rule<>((time) -> time.compareTo(Duration.ZERO) > 0,
			"must be positive");

	/**
	 * A time that may be zero.
	 */
	public static final Rule<Duration> NOT_NEGATIVE = new Rule<>((time) -> !time.isNegative(), "must not be negative");

	/**
	 * The beginning of all keys in Redis.
	 */
	public static final Rule<String> KEY_PREFIX = matching("[A-Za-z0-9._:/-]{1,64}",
			"must be 1 to 64 of the characters A-Z, a-z, 0-9, '.', '_', '-', ':' and '/'; braces would change the"
					+ " slot of the keys in a Redis Cluster");

	/**
	 * The name of an instance.
	 */
	public static final Rule<String> INSTANCE_NAME = matching("[A-Za-z0-9@._:-]{1,64}",
			"must be 1 to 64 of the characters A-Z, a-z, 0-9, '@', '.', '_', ':' and '-'");

	/**
	 * The name of a table.
	 */
	public static final Rule<String> TABLE = matching("([A-Za-z_][A-Za-z0-9_$]*\\.)?[A-Za-z_][A-Za-z0-9_$]*",
			"must consist of letters, digits, '_' and '$', and may begin with a schema and a dot");

	/**
	 * Return a rule for the length of a lease.
	 * @param shortest the shortest one; the longest is {@link LockStore#LONGEST_LEASE}
	 */
	public static Rule<Duration> leaseFrom(Duration shortest) {
		return new Rule<>((time) -> time.compareTo(shortest) >= 0 && time.compareTo(LockStore.LONGEST_LEASE) <= 0,
				"must be from " + shortest.toMillis() + " ms to " + LockStore.LONGEST_LEASE.toDays() + " days");
	}

	private static Rule<String> matching(String expression, String text) {
		return new Rule<>(Pattern.compile(expression).asMatchPredicate(), text);
	}

	/**
	 * Require a value to follow this rule.
	 * @param name the name of the parameter
	 * @throws IllegalArgumentException if it does not
	 */
	public void require(String name, T value) {
		if (!this.test.test(value)) {
			throw new IllegalArgumentException("'" + name + "' " + this.text + ", but was "
					+ ((value instanceof String) ? "'" + value + "'" : value));
		}
	}

}
