// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import java.util.List;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * The strategies to choose from.
 */
@RestController
class StrategyController {

	private final DeductionStrategies strategies;

	StrategyController(DeductionStrategies strategies) {
		this.strategies = strategies;
	}

	@GetMapping("/api/strategies")
	List<StrategyDescription> strategies() {
		return this.strategies.descriptions();
	}

}
