// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

import io.github.lockstarter.sample.stock.DeductionStrategy.BusyException;

/**
 * Delays each change of a count, as if the instance had been paused between its read and
 * its write. By default there is no delay.
 */
@Component
public class WriteDelay {

	private static final Log logger = LogFactory.getLog(WriteDelay.class);

	private final Duration delay;

	protected WriteDelay(@Value("${shop.write-delay:0s}") Duration delay) {
		this.delay = delay;
	}

	public void await(long productId) {
		if (this.delay.isZero()) {
			return;
		}
		logger.info("Delaying the sale of product " + productId);
		try {
			Thread.sleep(this.delay.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new BusyException(productId);
		}
	}

}
