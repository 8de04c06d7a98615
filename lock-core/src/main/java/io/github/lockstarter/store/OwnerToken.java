// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.security.SecureRandom;
import java.util.Base64;

import io.github.lockstarter.LockMode;

/**
 * Identity of one tenure: 128 random bits that cannot be guessed and are never used
 * again, and the mode of the lock.
 *
 * @param value the identity as it is stored
 * @param mode the mode in which the lock is acquired
 */
public record OwnerToken(String value, LockMode mode) {

	private static final SecureRandom random = new SecureRandom();

	/**
	 * Return a new token for an exclusive owner.
	 */
	public static OwnerToken random() {
		return random(LockMode.EXCLUSIVE);
	}

	/**
	 * Return a new token.
	 * @param mode the mode in which the lock is acquired
	 */
	public static OwnerToken random(LockMode mode) {
		byte[] bytes = new byte[16];
		random.nextBytes(bytes);
		return new OwnerToken(Base64.getUrlEncoder().withoutPadding().encodeToString(bytes), mode);
	}

	/**
	 * Return the first characters only, because a program that knows the token can
	 * release the lock.
	 */
	@Override
	public String toString() {
		return this.value.substring(0, Math.min(4, this.value.length())) + "…";
	}

}
