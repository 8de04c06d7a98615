// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import org.aopalliance.intercept.MethodInvocation;

/**
 * A call that can be carried out more than once, each time with arguments of its own.
 * Calls through proxies of Spring can be repeated without it.
 */
public interface RepeatableInvocation extends MethodInvocation {

	/**
	 * Return the same call with a copy of its arguments.
	 */
	MethodInvocation copy();

}
