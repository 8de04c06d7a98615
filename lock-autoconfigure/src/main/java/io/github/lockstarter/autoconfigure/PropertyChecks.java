// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;
import java.util.regex.Pattern;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * What the properties of the locks require of their values. Their names are given without
 * the prefix that all of them have.
 */
final class PropertyChecks {

	/** Lets the locks choose, as far as the choice is clear. */
	static final String AUTO = "auto";

	private static final Pattern PLAIN = Pattern.compile("[a-z0-9-]+");

	private static final Pattern TABLE = Pattern.compile("([A-Za-z_][A-Za-z0-9_$]*\\.)?[A-Za-z_][A-Za-z0-9_$]*");

	private PropertyChecks() {
	}

	/**
	 * Return the property of one lock name. Brackets keep all characters, also those that
	 * the names of properties do not have.
	 */
	static String ofLock(String lock) {
		return "locks" + (PLAIN.matcher(lock).matches() ? "." + lock : "[" + lock + "]");
	}

	static void require(boolean valid, String name, Object value, String reason) {
		if (!valid) {
			throw new InvalidConfigurationPropertyValueException("distributed-lock." + name, value, reason);
		}
	}

	static void requireTable(String name, String table) {
		require(TABLE.matcher(table).matches(), name, table,
				"It has to consist of letters, digits, '_' and '$', and may begin with a schema and a dot.");
	}

	static void requirePositive(String name, Duration value) {
		require(!value.isNegative() && !value.isZero(), name, value, "It has to be positive.");
	}

	static void requireNotNegative(String name, Duration value) {
		require(!value.isNegative(), name, value, "It must not be negative.");
	}

	static void requireAtLeast(String name, Duration value, Duration leaseTime) {
		require(value.compareTo(leaseTime) >= 0, name, value,
				"It must not be shorter than 'distributed-lock.lease-time', which is " + leaseTime + ".");
	}

}
