// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * What the leases of a scope mean for the transactions inside of it.
 *
 * @param lossMatters whether a transaction must not commit after the loss of a lease
 * @param fencing whether transactions claim the fencing tokens
 */
record ScopeTerms(boolean lossMatters, TransactionFencing fencing) {

	/**
	 * For leases from a registry that belong to their thread.
	 */
	static final ScopeTerms OF_THREAD = new ScopeTerms(true, TransactionFencing.DEFAULT);

	/**
	 * Return whether transactions claim the fencing tokens.
	 * @param byDefault what applies where nothing is said
	 */
	boolean isFenced(boolean byDefault) {
		return switch (this.fencing) {
			case DEFAULT -> byDefault && this.lossMatters;
			case ON -> true;
			case OFF -> false;
		};
	}

}
