// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;

import io.github.lockstarter.LockKey;

/**
 * The {@linkplain LockKey#text() text} of a lock in messages from Redis, which any
 * program can publish.
 */
final class LockText {

	private LockText() {
	}

	/**
	 * Return the lock with a text.
	 * @throws IllegalArgumentException if no lock has this text
	 */
	static LockKey parse(String text) {
		int colon = text.indexOf(':');
		LockKey parsed = (colon < 0) ? LockKey.of(text)
				: LockKey.of(text.substring(0, colon), decode(text.substring(colon + 1)));
		if (!parsed.text().equals(text)) {
			throw new IllegalArgumentException("'" + text + "' is not the text of a lock");
		}
		return parsed;
	}

	private static String decode(String encoded) {
		return URLDecoder.decode(encoded.replace("+", "%2B"), StandardCharsets.UTF_8);
	}

}
