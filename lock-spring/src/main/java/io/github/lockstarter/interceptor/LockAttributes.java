// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.util.StringValueResolver;

/**
 * Reads the attributes of annotations, and names those that cannot be read.
 *
 * @param placeholders resolves placeholders
 */
record LockAttributes(StringValueResolver placeholders) {

	private static final String DURATIONS = "Write it like \"500ms\", \"3s\" or \"PT3S\", or leave it out for the"
			+ " default.";

	/**
	 * Return a text with its placeholders resolved.
	 * @throws InvalidLockDefinitionException if a placeholder has no value
	 */
	String text(String attribute, String value, Method method) {
		if (!value.contains("${")) {
			return value;
		}
		return check(attribute, method, "Define the property, or give a default as in ${property:default}.", () -> {
			String resolved = this.placeholders.resolveStringValue(value);
			return (resolved != null) ? resolved : "";
		});
	}

	/**
	 * Return a duration, or {@code null} if the attribute is left out.
	 * @throws InvalidLockDefinitionException if the text is not a duration
	 */
	@Nullable Duration duration(String attribute, String value, Method method) {
		String text = text(attribute, value, method);
		return (text.isBlank()) ? null : check(attribute, method, DURATIONS, () -> DurationAttribute.parse(text));
	}

	/**
	 * Return a value, and report the attribute if that is not possible.
	 * @param action the change that solves the problem
	 * @throws InvalidLockDefinitionException if there is no value
	 */
	static <T extends @Nullable Object> T check(String attribute, Method method, String action, Supplier<T> value) {
		try {
			return value.get();
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidLockDefinitionException(method, attribute + ": " + ex.getMessage(), action, ex);
		}
	}

}
