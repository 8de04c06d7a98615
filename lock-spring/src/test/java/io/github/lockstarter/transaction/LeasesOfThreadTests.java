// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnPersistenceContext;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.testsupport.ManualInstances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The leases of a thread, which may be closed by any thread and in any order.
 */
class LeasesOfThreadTests {

	private static final int LEASES = 1000;

	private static final Duration LEASE_TIME = Duration.ofSeconds(5);

	@RegisterExtension
	private final ManualInstances instances = new ManualInstances();

	@RegisterExtension
	private final ManualInstances elsewhere = new ManualInstances();

	private final TransactionAwareLockRegistry registry = new TransactionAwareLockRegistry("memory",
			this.instances.registry(), OnActiveTransaction.DEFAULT, OnPersistenceContext.DEFAULT, LockListener.NO_OP,
			this.instances.time::now);

	@AfterEach
	void nothingIsLeft() {
		assertThat(LeasesOfThread.size()).isZero();
	}

	@Test
	void aChainOfLocksEachTakenBeforeTheLastIsReleasedIsForgotten() {
		Lease last = this.registry.acquire(LockRequest.of("node", -1));
		for (int i = 0; i < LEASES; i++) {
			Lease next = this.registry.acquire(LockRequest.of("node", i));
			last.close();
			last = next;
			assertThat(LeasesOfThread.size()).isOne();
		}
		last.close();
		assertThat(LeasesOfThread.size()).isZero();
	}

	@Test
	void leasesThatAnotherThreadClosesAreForgottenAtTheNextAcquisition() {
		Lease held = this.registry.acquire(LockRequest.of("node", -1));
		for (int i = 0; i < LEASES; i++) {
			Lease next = this.registry.acquire(LockRequest.of("node", i));
			assertThat(LeasesOfThread.size()).isEqualTo(2);
			CompletableFuture.runAsync(held::close).join();
			held = next;
		}
		held.close();
		assertThat(LeasesOfThread.size()).isZero();
	}

	@Test
	void aFixedLeaseThatNobodyClosedKeepsItsThreadFromNoLock() {
		LockRequest request = LockRequest.of("node", 1);
		Lease left = this.registry.acquire(request.withLeaseTime(LEASE_TIME));
		assertThat(LeasesOfThread.cover(this.registry, List.of(request))).isTrue();
		this.instances.time.advance(LEASE_TIME);
		assertThat(LeasesOfThread.cover(this.registry, List.of(request))).isFalse();
		assertThat(new LockTemplate(this.registry).<Boolean>execute(request, Lease::isHeld)).isTrue();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(left::close);
	}

	@Test
	void aRequestIsReentrantIfTheThreadHoldsAllItsLocks() {
		List<LockRequest> both = List.of(LockRequest.of("node", 1), LockRequest.of("node", 2));
		LockTemplate template = new LockTemplate(this.registry);
		assertThat(LeasesOfThread.cover(this.registry, List.of(LockRequest.of("node", 1)))).isFalse();
		template.executeWithoutResult(LockRequest.of("node", 1), (outer) -> {
			assertThat(LeasesOfThread.cover(this.registry, List.of(LockRequest.of("node", 1)))).isTrue();
			assertThat(LeasesOfThread.cover(this.registry, both)).isFalse();
			template.executeWithoutResult(LockRequest.of("node", 2),
					(inner) -> assertThat(LeasesOfThread.cover(this.registry, both)).isTrue());
		});
	}

	@Test
	void aLockOfAnotherRegistryIsAnotherLock() {
		TransactionAwareLockRegistry other = new TransactionAwareLockRegistry("other", this.elsewhere.registry(),
				OnActiveTransaction.DEFAULT, OnPersistenceContext.DEFAULT, LockListener.NO_OP);
		LockRequest request = LockRequest.of("node", 1);
		try (Lease outer = this.registry.acquire(request)) {
			assertThat(LeasesOfThread.cover(other, List.of(request))).isFalse();
			try (Lease inner = other.acquire(request)) {
				assertThat(LeasesOfThread.cover(other, List.of(request))).isTrue();
				assertThat(LeasesOfThread.fenced((registry) -> true)).extracting((each) -> each.registry().name())
					.containsExactly("memory", "other");
				assertThat(LeasesOfThread.fenced("other"::equals)).singleElement()
					.satisfies((each) -> assertThat(each.lease().fencingToken()).isEqualTo(inner.fencingToken()));
			}
		}
	}

	@Test
	void fixedLeasesThatNobodyClosesAreForgottenWhenTheirTimeIsOver() {
		for (int i = 0; i < LEASES; i++) {
			this.registry.acquire(LockRequest.of("node", i).withLeaseTime(LEASE_TIME));
		}
		this.instances.time.advance(LEASE_TIME.minusNanos(1));
		this.registry.acquire(LockRequest.of("node", "last")).close();
		assertThat(LeasesOfThread.size()).isEqualTo(LEASES);
		this.instances.time.advance(Duration.ofNanos(1));
		this.registry.acquire(LockRequest.of("node", "last")).close();
		assertThat(LeasesOfThread.size()).isZero();
	}

	/** Transactions that claim rows in the same order cannot deadlock. */
	@Test
	void fencingTokensAreClaimedInTheOrderOfTheirLocks() {
		LockTemplate template = new LockTemplate(this.registry);
		List<LockRequest> set = Stream.of("5", "1", "3").map((key) -> LockRequest.of("stock", key)).toList();
		List<String> claimed = template.execute(LockRequest.of("stock", "4"),
				(outer) -> template.execute(set, (all) -> template.execute(LockRequest.of("stock", "2"),
						(inner) -> keys(LeasesOfThread.fenced((registry) -> true)))));
		assertThat(claimed).containsExactly("1", "2", "3", "4", "5");
	}

	private static List<String> keys(List<LeasesOfThread.Fenced> leases) {
		return leases.stream().map((each) -> each.lease().key().key()).toList();
	}

}
