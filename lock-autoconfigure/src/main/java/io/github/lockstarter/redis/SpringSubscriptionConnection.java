// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.Subscription;

/**
 * A connection for one subscription with any driver.
 *
 * @param connection the connection, used for nothing else
 */
record SpringSubscriptionConnection(RedisConnection connection) implements SubscriptionConnection {

	private static final Log logger = LogFactory.getLog(SpringSubscriptionConnection.class);

	@Override
	public boolean subscribe(RedisSubscription listener, byte[] channel) {
		this.connection.subscribe(listener, channel);
		return this.connection.isSubscribed();
	}

	@Override
	public void close() {
		try {
			Subscription subscription = this.connection.getSubscription();
			if (subscription != null) {
				subscription.close();
			}
		}
		catch (RuntimeException ex) {
			logger.debug("Could not end the subscription", ex);
		}
		try {
			this.connection.close();
		}
		catch (RuntimeException ex) {
			logger.debug("Could not close the connection of the subscription", ex);
		}
	}

}
