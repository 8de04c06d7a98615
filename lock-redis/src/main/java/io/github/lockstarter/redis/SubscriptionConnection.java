// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

/**
 * A connection for one subscription.
 */
interface SubscriptionConnection extends AutoCloseable {

	/**
	 * Subscribe. Some drivers listen on this thread and return at the end, others return
	 * at once.
	 * @param listener told of messages and of the confirmation
	 * @return whether the subscription goes on
	 */
	boolean subscribe(RedisSubscription listener, byte[] channel);

	/**
	 * End it, also while another thread subscribes or listens.
	 */
	@Override
	void close();

}
