// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

/**
 * A connection for one subscription.
 */
interface SubscriptionConnection extends AutoCloseable {

	/**
	 * Subscribe. Some drivers listen on this thread and return at the end; others return
	 * at once.
	 * @param listener called with messages and the confirmation
	 * @return whether the subscription continues
	 */
	boolean subscribe(RedisSubscription listener, byte[] channel);

	/**
	 * End the subscription, even while another thread subscribes or listens.
	 */
	@Override
	void close();

}
