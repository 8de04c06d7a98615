// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import io.github.lockstarter.store.OwnerToken;

/**
 * The identity of this JVM in the lines of locks, in the form of an owner token: the name
 * of the instance, a dot, and random characters.
 */
final class JvmId {

	private final String random = OwnerToken.randomId();

	private volatile String id = OwnerToken.instance(null) + '.' + this.random;

	void setInstance(String instance) {
		this.id = instance + '.' + this.random;
	}

	String get() {
		return this.id;
	}

	/**
	 * Return the random part of an id.
	 */
	static String random(String id) {
		return id.substring(id.lastIndexOf('.') + 1);
	}

}
