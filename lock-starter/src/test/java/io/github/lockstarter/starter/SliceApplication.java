// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import io.github.lockstarter.DistributedLock;

/**
 * The application for test slices. No Redis listens on its port.
 */
@SpringBootConfiguration
@EnableAutoConfiguration
class SliceApplication {

	@RestController
	static class StockController {

		private final Stock stock;

		StockController(Stock stock) {
			this.stock = stock;
		}

		@GetMapping("/annotated")
		String annotated() {
			return this.stock.deduct(1001);
		}

	}

	@Service
	static class Stock {

		@DistributedLock(name = "stock", key = "#id")
		public String deduct(long id) {
			return "deducted " + id;
		}

	}

}
