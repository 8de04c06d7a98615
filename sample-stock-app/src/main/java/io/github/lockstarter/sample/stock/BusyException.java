// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

/**
 * Thrown when nothing was sold because of other customers; a retry may help.
 */
public class BusyException extends RuntimeException {

	public BusyException(long productId) {
		super("Product " + productId + " is busy; nothing was sold");
	}

}
