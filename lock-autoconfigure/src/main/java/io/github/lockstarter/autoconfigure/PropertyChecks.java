// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;
import java.util.regex.Pattern;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

import io.github.lockstarter.store.Rule;

/**
 * What the properties of the locks require of their values. Their names are given without
 * the prefix that all of them have.
 */
final class PropertyChecks {

	/** Lets the locks choose, as far as the choice is clear. */
	static final String AUTO = "auto";

	private static final Pattern PLAIN = Pattern.compile("[a-z0-9-]+");

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

	static <T> void require(String name, T value, Rule<T> rule) {
		require(rule.test().test(value), name, value, "It " + rule.text() + ".");
	}

	static void requireAtLeast(String name, Duration value, Duration leaseTime) {
		require(value.compareTo(leaseTime) >= 0, name, value,
				"It must not be shorter than 'distributed-lock.lease-time', which is " + leaseTime + ".");
	}

}
