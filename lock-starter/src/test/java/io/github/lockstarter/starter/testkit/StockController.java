// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.testkit;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

import io.github.lockstarter.LockContendedException;

@RestController
class StockController {

	private final StockService stock;

	StockController(StockService stock) {
		this.stock = stock;
	}

	@PostMapping("/products/{id}/sales")
	void sell(@PathVariable long id) {
		this.stock.sell(id);
	}

	@ExceptionHandler(LockContendedException.class)
	@ResponseStatus(HttpStatus.CONFLICT)
	void busy() {
	}

}
