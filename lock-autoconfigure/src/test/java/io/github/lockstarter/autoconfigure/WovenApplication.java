// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.List;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.stereotype.Service;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;

/**
 * The application in the weaving section of the reference documentation.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
@Import(WovenApplication.StockService.class)
class WovenApplication {

	public static void main(String[] args) {
		try (ConfigurableApplicationContext context = SpringApplication.run(WovenApplication.class, args)) {
			context.getBean(StockService.class).deductAll(List.of(1001L, 1002L));
		}
		catch (Exception ex) {
			System.out.println(ex.getMessage());
		}
	}

	@Service
	static class StockService {

		void deductAll(List<Long> productIds) {
			productIds.forEach(this::deduct);
		}

		@DistributedLock(name = "stock", key = "#productId")
		private void deduct(long productId) {
			System.out.println(Lease.current().key());
		}

	}

}
