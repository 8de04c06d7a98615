// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.data.jpa.test.autoconfigure.DataJpaTest;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.test.autoconfigure.AutoConfigureDistributedLocks;
import io.github.lockstarter.test.autoconfigure.TestLocks;

import static io.github.lockstarter.test.LockAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A test slice that asks for locks.
 */
@DataJpaTest
@AutoConfigureDistributedLocks
@Import(SliceApplication.Stock.class)
class JpaSliceTests {

	@Autowired
	private SliceApplication.Stock stock;

	@Autowired
	private Products products;

	@Autowired
	private TestLocks locks;

	@BeforeEach
	void noTestSeesTheLocksOfTheOneBefore() {
		assertThat(this.locks.events()).isEmpty();
	}

	@Test
	void annotatedBeansAndRepositoriesAreLocked() {
		assertThat(this.stock.deduct(1001)).isEqualTo("deducted 1001");
		assertThat(this.products.save(new Product(1001L)).id()).isEqualTo(1001L);
		assertThat(this.locks).hasAcquiredInOrder(LockKey.of("stock", 1001), LockKey.of("product"));
	}

	@Test
	@Transactional(propagation = Propagation.NOT_SUPPORTED)
	void withoutATransactionOfTheTestALockIsReleasedAtOnce() {
		this.stock.deduct(1001);
		assertThat(this.locks).hasReleased("stock", 1001);
	}

}
