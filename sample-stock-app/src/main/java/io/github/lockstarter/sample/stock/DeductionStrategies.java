// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import java.util.Comparator;
import java.util.List;

import org.springframework.stereotype.Component;

/**
 * The known strategies, by name.
 */
@Component
class DeductionStrategies {

	private final List<DeductionStrategy> strategies;

	DeductionStrategies(List<DeductionStrategy> strategies) {
		this.strategies = strategies.stream().sorted(Comparator.comparing(DeductionStrategy::name)).toList();
	}

	List<DeductionStrategy> all() {
		return this.strategies;
	}

	DeductionStrategy get(String name) {
		return this.strategies.stream()
			.filter((strategy) -> strategy.name().equals(name))
			.findFirst()
			.orElseThrow(() -> new UnknownStrategyException(name,
					this.strategies.stream().map(DeductionStrategy::name).toList()));
	}

}
