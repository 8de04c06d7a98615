// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import java.io.IOException;
import java.io.InputStream;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.core.io.Resource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import io.github.lockstarter.sample.stock.DeductionStrategy;

/**
 * The strategies to choose from, as {@code strategies.json} describes them.
 */
@RestController
class StrategyController {

	private final List<Description> strategies;

	StrategyController(Map<String, DeductionStrategy> strategies, JsonMapper json,
			@Value("classpath:strategies.json") Resource descriptions) throws IOException {
		try (InputStream content = descriptions.getInputStream()) {
			this.strategies = Stream.of(json.readValue(content, Description[].class))
				.filter((each) -> strategies.containsKey(each.name()))
				.sorted(Comparator.comparing(Description::name))
				.toList();
		}
	}

	@GetMapping("/api/strategies")
	List<Description> strategies() {
		return this.strategies;
	}

	/**
	 * What customers of the API learn of a strategy.
	 *
	 * @param name the name of its bean, which selects it
	 * @param family what it relies on
	 * @param description what it does, in one line, and where it fails
	 * @param expectation what becomes of the stock under several instances
	 */
	record Description(String name, String family, String description, String expectation) {
	}

}
