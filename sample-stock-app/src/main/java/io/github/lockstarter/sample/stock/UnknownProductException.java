// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

/**
 * Exception thrown when a product has no stock, not even an empty one.
 */
public class UnknownProductException extends RuntimeException {

	public UnknownProductException(long productId) {
		super("Product '" + productId + "' is unknown");
	}

}
