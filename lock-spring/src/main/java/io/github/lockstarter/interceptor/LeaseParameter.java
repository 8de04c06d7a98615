// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;

/**
 * The parameter of an annotated method that receives its lease.
 *
 * @param index the index of the parameter, or -1 for none
 * @param single whether it receives the lease of a single lock
 */
record LeaseParameter(int index, boolean single) {

	/**
	 * Return the first parameter of type {@code Lease} or {@code LeaseSet}.
	 */
	static LeaseParameter of(Method method) {
		Class<?>[] types = method.getParameterTypes();
		for (int i = 0; i < types.length; i++) {
			if (types[i] == Lease.class || types[i] == LeaseSet.class) {
				return new LeaseParameter(i, types[i] == Lease.class);
			}
		}
		return new LeaseParameter(-1, false);
	}

	/**
	 * Set the argument of a call.
	 * @param lease the lease, or {@code null} for a call without the lock
	 */
	void fillIn(@Nullable LeaseSet lease, @Nullable Object[] arguments) {
		if (this.index >= 0) {
			arguments[this.index] = lease;
		}
	}

}
