// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

import io.github.lockstarter.LockKey;

/**
 * The key of a lock's row in a database: the text of the lock, or its name and a hash if
 * the text is long. Has at most 255 characters, and compares as the lock does if the
 * column tells upper case from lower case.
 */
public final class RowKey {

	/** Indexes of some databases have no room for longer keys. */
	private static final int MAX_LENGTH = 255;

	private RowKey() {
	}

	/**
	 * Return the key of a lock in a table of one store.
	 * @param key the lock
	 */
	public static String of(LockKey key) {
		return of("", key);
	}

	/**
	 * Return the key of a lock in a table of several stores.
	 * @param prefix tells the locks of one store from those of the others
	 * @param key the lock
	 */
	public static String of(String prefix, LockKey key) {
		// Some databases ignore trailing spaces; the text itself contains no %20
		String text = (prefix + key.text()).replace(" ", "%20");
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
