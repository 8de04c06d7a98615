// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The leases of a thread, which may be closed by any thread and in any order.
 */
class LeaseContextTests {

	private static final int LEASES = 1000;

	private final DefaultLockRegistry engine = new DefaultLockRegistry(new MemoryLockStore(), EngineSettings.DEFAULTS,
			LockListener.NO_OP);

	private final LockRegistry registry = new TransactionAwareLockRegistry(this.engine, OnActiveTransaction.DEFER);

	@BeforeEach
	void othersHaveLeftNothing() {
		LeaseContext.forgetExpired();
		assertThat(LeaseContext.size()).isZero();
	}

	@AfterEach
	void close() {
		this.engine.close();
	}

	@Test
	void aChainOfLocksEachTakenBeforeTheLastIsReleasedIsForgotten() {
		Lease last = this.registry.acquire(LockRequest.of("node", -1));
		for (int i = 0; i < LEASES; i++) {
			Lease next = this.registry.acquire(LockRequest.of("node", i));
			last.close();
			last = next;
			assertThat(LeaseContext.size()).isOne();
		}
		last.close();
		assertThat(LeaseContext.size()).isZero();
	}

	@Test
	void leasesThatAnotherThreadClosesAreForgottenAtTheNextAcquisition() {
		Lease held = this.registry.acquire(LockRequest.of("node", -1));
		for (int i = 0; i < LEASES; i++) {
			Lease next = this.registry.acquire(LockRequest.of("node", i));
			assertThat(LeaseContext.size()).isEqualTo(2);
			CompletableFuture.runAsync(held::close).join();
			held = next;
		}
		held.close();
		assertThat(LeaseContext.size()).isZero();
	}

	@Test
	void aFixedLeaseThatNobodyClosedKeepsItsThreadFromNoLock() {
		LockRequest request = LockRequest.of("node", 1);
		Lease left = this.registry.acquire(request.withLeaseTime(Duration.ofMillis(10)));
		Awaitility.await().until(left::remaining, Duration.ZERO::equals);
		assertThat(new LockTemplate(this.registry).<Lease, Boolean, RuntimeException>execute(request, Lease::isHeld))
			.isTrue();
	}

	@Test
	void aRequestIsReentrantIfTheThreadHoldsAllItsLocks() {
		LockSetRequest both = LockSetRequest.of("node", List.of(1, 2));
		LockTemplate template = new LockTemplate(this.registry);
		assertThat(LeaseContext.isReentrant(LockRequest.of("node", 1))).isFalse();
		template.executeWithoutResult(LockRequest.of("node", 1), (outer) -> {
			assertThat(LeaseContext.isReentrant(LockRequest.of("node", 1))).isTrue();
			assertThat(LeaseContext.isReentrant(both)).isFalse();
			template.executeWithoutResult(LockRequest.of("node", 2),
					(inner) -> assertThat(LeaseContext.isReentrant(both)).isTrue());
		});
	}

	@Test
	void aRequestForALockThatHasExpiredIsNotReentrant() {
		LockRequest request = LockRequest.of("node", 1);
		Lease left = this.registry.acquire(request.withLeaseTime(Duration.ofMillis(10)));
		Awaitility.await().until(left::remaining, Duration.ZERO::equals);
		assertThat(LeaseContext.size()).isOne();
		assertThat(LeaseContext.isReentrant(request)).isFalse();
	}

	@Test
	void fixedLeasesThatNobodyClosesAreForgotten() {
		Lease last = null;
		for (int i = 0; i < LEASES; i++) {
			last = this.registry.acquire(LockRequest.of("node", i).withLeaseTime(Duration.ofMillis(10)));
		}
		Awaitility.await().until(last::remaining, Duration.ZERO::equals);
		this.registry.acquire(LockRequest.of("node", "last")).close();
		assertThat(LeaseContext.size()).isZero();
	}

	/** Transactions that claim rows in the same order cannot deadlock. */
	@Test
	void fencingTokensAreClaimedInTheOrderOfTheirLocks() {
		LockTemplate template = new LockTemplate(this.registry);
		LockSetRequest set = LockSetRequest.of("stock", List.of("5", "1", "3"));
		List<String> claimed = template.execute(LockRequest.of("stock", "4"), (outer) -> template.execute(set,
				(all) -> template.execute(LockRequest.of("stock", "2"), (inner) -> keys(LeaseContext.fenced(true)))));
		assertThat(claimed).containsExactly("1", "2", "3", "4", "5");
	}

	private static List<String> keys(List<FencedLease> leases) {
		return leases.stream().map((fenced) -> fenced.lease().key().key()).toList();
	}

}
