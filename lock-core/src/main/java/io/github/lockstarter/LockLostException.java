// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * Exception thrown when a lock was lost before its owner released it. Another owner may
 * have held it since, so the lock did not protect the body to its end.
 */
public class LockLostException extends LockException {

	private final long fencingToken;

	/**
	 * Create an exception.
	 * @param key which lock
	 * @param fencingToken the token of the lost lease
	 * @param reason how it was lost, completing "was lost: …"
	 */
	public LockLostException(LockKey key, long fencingToken, String reason) {
		super(key, "Lock '" + key + "' with fencing token " + fencingToken + " was lost: " + reason
				+ "; another owner may have acquired it before the protected code ended", null);
		this.fencingToken = fencingToken;
	}

	/**
	 * Return the fencing token of the lost lease.
	 */
	public long getFencingToken() {
		return this.fencingToken;
	}

}
