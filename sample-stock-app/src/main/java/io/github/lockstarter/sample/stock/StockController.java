// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import java.util.Map;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

import io.github.lockstarter.sample.stock.DeductionStrategy.UnknownProductException;

/**
 * The stock of a product, and sales.
 */
@RestController
@RequestMapping("/api/stock/{productId}")
class StockController {

	private final StockRepository stocks;

	private final Map<String, DeductionStrategy> strategies;

	StockController(StockRepository stocks, Map<String, DeductionStrategy> strategies) {
		this.stocks = stocks;
		this.strategies = strategies;
	}

	@GetMapping
	StockReport report(@PathVariable long productId) {
		return this.stocks.findReport(productId).orElseThrow(() -> new UnknownProductException(productId));
	}

	@PutMapping
	StockReport reset(@PathVariable long productId, @RequestBody NewStock stock) {
		if (stock.count() == null || stock.count() < 0) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "'count' must be a number that is not negative");
		}
		this.stocks.reset(productId, stock.count());
		return report(productId);
	}

	@PostMapping("/deductions")
	Sale deduct(@PathVariable long productId, @RequestParam(defaultValue = "1") int count,
			@RequestParam(defaultValue = "distributed-lock") String strategy) {
		if (count < 1) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "'count' must be at least 1");
		}
		return new Sale(true, strategy(strategy).deduct(productId, count));
	}

	private DeductionStrategy strategy(String name) {
		DeductionStrategy strategy = this.strategies.get(name);
		if (strategy == null) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "Strategy '" + name + "' is unknown, known are: "
					+ String.join(", ", new TreeSet<>(this.strategies.keySet())) + "; others need a profile");
		}
		return strategy;
	}

	record NewStock(@Nullable Integer count) {
	}

	record Sale(boolean sold, int remaining) {
	}

}
