// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;

/**
 * The application for test slices. No Redis listens on its port.
 */
@SpringBootConfiguration
@EnableAutoConfiguration
class SliceApplication {

	@RestController
	static class StockController {

		private final Stock stock;

		private final LockTemplate template;

		StockController(Stock stock, LockTemplate template) {
			this.stock = stock;
			this.template = template;
		}

		@GetMapping("/annotated")
		String annotated() {
			return this.stock.deduct(1001);
		}

		@GetMapping("/template")
		String template() {
			return this.template.execute(LockRequest.of("stock", 1001), (lease) -> Lease.current().key().toString());
		}

	}

	@Service
	static class Stock {

		@DistributedLock(name = "stock", key = "#id")
		public String deduct(long id) {
			return Lease.current().key().toString();
		}

	}

}
