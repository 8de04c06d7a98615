// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

/**
 * What customers of the API learn of a strategy.
 *
 * @param name the name that selects it
 * @param family what it relies on
 * @param description what it does, in one line, and where it fails
 * @param expectation what becomes of the stock under several instances
 */
public record StrategyDescription(String name, Family family, String description, Expectation expectation) {

}
