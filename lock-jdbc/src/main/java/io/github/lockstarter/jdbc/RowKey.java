// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

import io.github.lockstarter.LockKey;

/**
 * The key of a lock's row: the text of the lock, or its name and a hash if the text is
 * long.
 */
final class RowKey {

	/** Indexes of some databases have no room for longer keys. */
	private static final int MAX_LENGTH = 255;

	private RowKey() {
	}

	static String of(LockKey key) {
		// Some databases ignore trailing spaces; the text itself contains no %20
		String text = key.text().replace(" ", "%20");
		return (text.length() <= MAX_LENGTH) ? text : key.name() + "%#" + hash(text);
	}

	private static String hash(String text) {
		try {
			byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
			return Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
