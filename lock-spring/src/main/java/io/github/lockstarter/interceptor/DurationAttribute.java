// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.time.Duration;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Parses the durations of annotations: {@code "500ms"}, {@code "3s"} or ISO-8601.
 */
final class DurationAttribute {

	private static final Pattern BARE_NUMBER = Pattern.compile("[+-]?\\d+");

	private DurationAttribute() {
	}

	/**
	 * Parse a duration.
	 * @return the duration, or {@code null} for a blank text
	 * @throws IllegalArgumentException if the text is not a duration
	 */
	static @Nullable Duration parse(String text) {
		if (text.isBlank()) {
			return null;
		}
		String trimmed = text.trim();
		if (BARE_NUMBER.matcher(trimmed).matches()) {
			throw new IllegalArgumentException("'" + trimmed + "' has no unit");
		}
		try {
			return DurationFormatterUtils.detectAndParse(trimmed);
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			throw new IllegalArgumentException("'" + trimmed + "' is not a duration", ex);
		}
	}

}
