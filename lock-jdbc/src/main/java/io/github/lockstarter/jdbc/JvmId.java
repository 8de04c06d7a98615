// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.OwnerToken;

/**
 * The identity of this JVM in the lines of locks, in the form of an owner token: the name
 * of the instance, a dot, and random characters.
 */
final class JvmId {

	private volatile @Nullable String instance;

	private volatile @Nullable String id;

	/**
	 * Set the name of the instance. Without effect once there is an id.
	 */
	void setInstance(String instance) {
		this.instance = instance;
	}

	String get() {
		String id = this.id;
		return (id != null) ? id : create();
	}

	private synchronized String create() {
		String id = this.id;
		if (id == null) {
			String instance = this.instance;
			id = OwnerToken.random((instance != null) ? instance : OwnerToken.instance(null), LockMode.EXCLUSIVE)
				.value();
			this.id = id;
		}
		return id;
	}

	/**
	 * Return the random part of an id.
	 */
	static String random(String id) {
		return id.substring(id.lastIndexOf('.') + 1);
	}

}
