// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

/**
 * Puts the lock around the work of a method that goes on after it has returned.
 */
interface InvocationAdapter {

	/**
	 * Call the method when its lock is there.
	 * @param call the call of the method
	 * @return what the method is declared to return, at once
	 */
	Object invoke(LockedCall call);

}
