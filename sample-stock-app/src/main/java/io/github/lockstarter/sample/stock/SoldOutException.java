// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

/**
 * Exception thrown when fewer units of a product remain than requested.
 */
public class SoldOutException extends RuntimeException {

	public SoldOutException(long productId) {
		super("Product '" + productId + "' is sold out");
	}

}
