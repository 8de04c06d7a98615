// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.backend;

import java.security.SecureRandom;
import java.util.Base64;

/**
 * Random identity of one tenure: 128 bits that nobody can guess and that are never used
 * again.
 *
 * @param value the identity as it is stored
 */
public record OwnerToken(String value) {

	private static final SecureRandom random = new SecureRandom();

	/**
	 * Return a new token.
	 */
	public static OwnerToken random() {
		byte[] bytes = new byte[16];
		random.nextBytes(bytes);
		return new OwnerToken(Base64.getUrlEncoder().withoutPadding().encodeToString(bytes));
	}

	/**
	 * Return the first characters only: who knows a token can release the lock.
	 */
	@Override
	public String toString() {
		return this.value.substring(0, Math.min(4, this.value.length())) + "…";
	}

}
