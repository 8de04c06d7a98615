// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

/**
 * Strategy to take units out of the stock while others do the same. Every bean of this
 * type is offered by the API.
 */
public interface DeductionStrategy {

	/**
	 * Return the name that selects the strategy.
	 */
	String name();

	/**
	 * Return one line about what the strategy is good for.
	 */
	String description();

	/**
	 * Sell units of a product.
	 * @param productId the product
	 * @param count how many units, at least one
	 * @return how many units remain
	 * @throws SoldOutException if fewer units are there
	 * @throws UnknownProductException if there is no such product
	 */
	int deduct(long productId, int count);

}
