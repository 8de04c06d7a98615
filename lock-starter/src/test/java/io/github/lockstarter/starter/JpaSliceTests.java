// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.data.jpa.test.autoconfigure.DataJpaTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.autoconfigure.DistributedLockAutoConfiguration;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A test slice that asks for locks.
 */
@DataJpaTest(properties = "distributed-lock.store=memory")
@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
@Import({ SliceApplication.Stock.class, JpaSliceTests.Listening.class })
class JpaSliceTests {

	private static final List<LockKey> acquired = new CopyOnWriteArrayList<>();

	@Autowired
	private SliceApplication.Stock stock;

	@Autowired
	private Products products;

	@Test
	void annotatedBeansAndRepositoriesAreLocked() {
		acquired.clear();
		assertThat(this.stock.deduct(1001)).isEqualTo("deducted 1001");
		assertThat(this.products.save(new Product(1001L)).id()).isEqualTo(1001L);
		assertThat(acquired).containsExactly(LockKey.of("stock", 1001), LockKey.of("product"));
	}

	@TestConfiguration(proxyBeanMethods = false)
	static class Listening {

		@Bean
		LockListener listener() {
			return (event) -> {
				if (event instanceof LockEvent.Acquired) {
					acquired.add(event.key());
				}
			};
		}

	}

}
