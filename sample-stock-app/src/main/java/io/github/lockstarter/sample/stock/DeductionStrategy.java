// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

/**
 * Strategy to deduct units from the stock while other callers do the same. The API offers
 * every bean of this type by its name.
 */
@FunctionalInterface
public interface DeductionStrategy {

	/**
	 * Sell units of a product.
	 * @param productId the product
	 * @param count the number of units, at least one
	 * @return the number of remaining units
	 * @throws SoldOutException if fewer units remain
	 * @throws UnknownProductException if there is no such product
	 * @throws BusyException if nothing was sold because of other customers
	 */
	int deduct(long productId, int count);

	/**
	 * Exception thrown when fewer units of a product remain than requested.
	 */
	class SoldOutException extends RuntimeException {

		public SoldOutException(long productId) {
			super("Product '" + productId + "' is sold out");
		}

	}

	/**
	 * Exception thrown when a product has no stock, not even an empty one.
	 */
	class UnknownProductException extends RuntimeException {

		public UnknownProductException(long productId) {
			super("Product '" + productId + "' is unknown");
		}

	}

	/**
	 * Exception thrown when nothing was sold because of other customers; a retry may
	 * help.
	 */
	class BusyException extends RuntimeException {

		public BusyException(long productId) {
			this("Product " + productId + " is busy; nothing was sold");
		}

		public BusyException(String message) {
			super(message);
		}

	}

}
