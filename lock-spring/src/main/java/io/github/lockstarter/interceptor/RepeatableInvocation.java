// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import org.aopalliance.intercept.MethodInvocation;

/**
 * A call that can run more than once, each time with its own arguments. Calls through
 * Spring proxies do not need it.
 */
public interface RepeatableInvocation extends MethodInvocation {

	/**
	 * Return the same call with a copy of its arguments.
	 */
	MethodInvocation copy();

}
