// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.memory;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.OwnerToken;

/**
 * A place in a waiting line: of a JVM, or of one FAIR owner in it.
 *
 * @param jvm which JVM
 * @param shared whether the waiter shares the lock
 * @param owner the FAIR owner, or {@code null} for the place of the JVM
 */
record MemoryPlace(MemoryLockStore jvm, boolean shared, @Nullable OwnerToken owner) {

	static MemoryPlace of(MemoryLockStore jvm, OwnerToken owner) {
		return new MemoryPlace(jvm, owner.mode() == LockMode.READ, (owner.mode() == LockMode.FAIR) ? owner : null);
	}

	/**
	 * Return the name of the instance.
	 */
	String name() {
		return (this.owner != null) ? OwnerToken.holder(this.owner.value()) : this.jvm.instance();
	}

	boolean isInOrderOfArrival() {
		return this.owner != null;
	}

	/**
	 * Return the place of the same JVM that is shared if this one is exclusive, and the
	 * other way round.
	 */
	MemoryPlace other() {
		return new MemoryPlace(this.jvm, !this.shared, null);
	}

}
