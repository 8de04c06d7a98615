// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

/**
 * Exception thrown when a later owner of the lock has already claimed the row. Nothing
 * was sold.
 */
class LateOwnerException extends RuntimeException {

	LateOwnerException(long productId) {
		super("Product '" + productId + "' was sold by another owner in the meantime");
	}

}
