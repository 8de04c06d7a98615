// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * What becomes of the stock if several instances sell, one of them takes its time, and
 * one crashes.
 */
public enum Expectation {

	/** It is right, and the next customers can buy. */
	@JsonProperty("right")
	RIGHT,

	/** It is wrong, or nobody can buy any more. */
	@JsonProperty("wrong")
	WRONG,

	/** It is right, at a price that grows with the number of customers. */
	@JsonProperty("costly")
	COSTLY

}
