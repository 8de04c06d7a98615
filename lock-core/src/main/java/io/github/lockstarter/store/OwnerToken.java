// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.security.SecureRandom;
import java.util.Base64;

import io.github.lockstarter.LockMode;

/**
 * Random identity of one tenure: 128 bits that nobody can guess and that are never used
 * again; and how that tenure shares the lock.
 *
 * @param value the identity as it is stored
 * @param mode how the lock is shared
 */
public record OwnerToken(String value, LockMode mode) {

	private static final SecureRandom random = new SecureRandom();

	/**
	 * Return a new token of an owner that wants a lock exclusively.
	 */
	public static OwnerToken random() {
		return random(LockMode.EXCLUSIVE);
	}

	/**
	 * Return a new token.
	 * @param mode how the lock is shared
	 */
	public static OwnerToken random(LockMode mode) {
		byte[] bytes = new byte[16];
		random.nextBytes(bytes);
		return new OwnerToken(Base64.getUrlEncoder().withoutPadding().encodeToString(bytes), mode);
	}

	/**
	 * Return the first characters only, as a program that knows a token can release the
	 * lock.
	 */
	@Override
	public String toString() {
		return this.value.substring(0, Math.min(4, this.value.length())) + "…";
	}

}
