// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * A registry that wraps another one and wants to know which of its locks guard the body
 * of a {@link LockTemplate}, such as one that takes transactions into account.
 * Applications need not call it.
 */
public interface BodyAwareLockRegistry extends LockRegistry {

	/**
	 * Return this registry for bodies. Each lease that it grants is closed on the thread
	 * that acquired it, as soon as the body has returned; that of a future when the
	 * future of the body is done, on any thread.
	 * @param onLost the reaction of the bodies to a loss, never {@code DEFAULT}
	 * @param transactionFencing whether transactions claim the fencing token
	 */
	LockRegistry forBodies(OnLost onLost, TransactionFencing transactionFencing);

	/**
	 * Return the registry that acquires the locks.
	 */
	LockRegistry delegate();

	/**
	 * Return the registry that acquires the locks of another one, which may be the same.
	 * The locks of two registries are the same only if this is.
	 * @param registry a registry
	 */
	static LockRegistry innermost(LockRegistry registry) {
		return (registry instanceof BodyAwareLockRegistry aware) ? aware.delegate() : registry;
	}

}
