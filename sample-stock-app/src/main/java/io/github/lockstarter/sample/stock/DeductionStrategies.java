// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.springframework.stereotype.Component;

/**
 * The known strategies, by name.
 */
@Component
class DeductionStrategies {

	private final Map<String, DeductionStrategy> strategies = new TreeMap<>();

	DeductionStrategies(List<DeductionStrategy> strategies) {
		strategies.forEach((strategy) -> this.strategies.put(strategy.description().name(), strategy));
	}

	List<StrategyDescription> descriptions() {
		return this.strategies.values().stream().map(DeductionStrategy::description).toList();
	}

	DeductionStrategy get(String name) {
		DeductionStrategy strategy = this.strategies.get(name);
		if (strategy == null) {
			throw new UnknownStrategyException(name, this.strategies.keySet());
		}
		return strategy;
	}

}
