// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.OwnerToken;

/**
 * What a place in a line belongs to: a JVM that waits exclusively or shared, or one FAIR
 * owner in it.
 *
 * @param jvm the id of the JVM
 * @param shared whether the waiter shares the lock
 * @param fairOwner the FAIR owner, or {@code null} for the place of the JVM
 */
record Spot(String jvm, boolean shared, @Nullable String fairOwner) {

	static Spot of(String jvm, OwnerToken owner) {
		return new Spot(jvm, owner.mode() == LockMode.READ, (owner.mode() == LockMode.FAIR) ? owner.value() : null);
	}

	/**
	 * Return the name of the instance.
	 */
	String name() {
		return OwnerToken.holder((this.fairOwner != null) ? this.fairOwner : this.jvm);
	}

	boolean isFair() {
		return this.fairOwner != null;
	}

	boolean isOf(String jvm) {
		return this.jvm.equals(jvm);
	}

	/**
	 * Return whether this is a spot of a whole JVM, and the other one its counterpart: a
	 * JVM has one of both at a time.
	 */
	boolean isInsteadOf(Spot other) {
		return !isFair() && !other.isFair() && isOf(other.jvm()) && this.shared != other.shared();
	}

}
