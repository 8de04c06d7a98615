// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * What happens when a lock is acquired while a persistence context of JPA is open on the
 * thread, but no transaction: for example that of {@code spring.jpa.open-in-view}, which
 * lasts for a whole web request. A persistence context returns an entity that it read
 * before the lock without asking the database again, although others may have changed it.
 */
public enum OnPersistenceContext {

	/**
	 * The same as {@link #ISOLATE}, and a warning, once for each lock name.
	 */
	DEFAULT,

	/**
	 * Run the body without the open persistence context, so that a transaction in the
	 * body opens a new one; the thread gets the former one back when the body returns.
	 * Entities that were read before are not managed in the body, and entities that the
	 * body returns are detached.
	 * <p>
	 * A lock of a {@link LockRegistry} has no body: there this value means {@link #WARN}.
	 */
	ISOLATE,

	/**
	 * Run the body with the open persistence context, and log a warning once. Use it if
	 * the body calls {@code EntityManager.refresh}.
	 */
	WARN,

	/**
	 * Throw an {@link IllegalStateException} and do not acquire the lock.
	 */
	FAIL,

	/**
	 * Run the body with the open persistence context.
	 */
	IGNORE

}
