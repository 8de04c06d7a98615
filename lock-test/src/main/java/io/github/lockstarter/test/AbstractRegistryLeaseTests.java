// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.test.Callers.Call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The part of the contract of instances that is about leases: how long they last, and
 * what is left at the end of an instance.
 */
abstract class AbstractRegistryLeaseTests extends AbstractRegistryWaitTests {

	private static final Duration SHORT_LEASE_TIME = Duration.ofMillis(300);

	/** It is renewed, and a machine that stands still for seconds must not miss that. */
	private static final Duration RENEWED_LEASE_TIME = Duration.ofSeconds(6);

	/** An owner gives its lease up a little early, for clocks that run faster. */
	private static final Duration DRIFT = SHORT_LEASE_TIME.dividedBy(10);

	@Test
	void tokensGrowFromInstanceToInstance() {
		List<Long> tokens = new ArrayList<>();
		for (Instance instance : List.of(this.one, this.two, this.two, this.one, startInstance(), this.one)) {
			try (Lease lease = instance.acquire(this.request)) {
				tokens.add(lease.fencingToken());
			}
		}
		assertThat(tokens).isSorted().doesNotHaveDuplicates();
	}

	@Test
	void aLeaseIsRenewedWhileItIsHeld() {
		Instance renewing = startInstance(RENEWED_LEASE_TIME, Duration.ZERO);
		try (Lease held = renewing.acquire(this.request)) {
			assertThat(this.two.registry().tryAcquire(this.request.withWaitTime(RENEWED_LEASE_TIME.plusSeconds(1))))
				.isEmpty();
			// A standstill may have delayed them
			await().until(() -> renewing.store().renewals() >= 3);
			held.ensureHeld();
		}
		this.two.acquire(this.request).close();
	}

	@Test
	void aFixedLeaseEndsInTimeAndTheNextOwnerHasALargerToken() {
		long start = System.nanoTime();
		Lease expiring = this.one.acquire(this.request.withLeaseTime(SHORT_LEASE_TIME));
		try (Lease next = this.two.acquire(this.request)) {
			assertThat(expiring.isHeld()).isFalse();
			assertThat(since(start)).isGreaterThan(SHORT_LEASE_TIME.minus(DRIFT));
			assertThat(next.fencingToken()).isGreaterThan(expiring.fencingToken());
			assertThatExceptionOfType(LockLostException.class).isThrownBy(expiring::close);
			next.ensureHeld();
		}
	}

	@Test
	void aLockThatIsHeldAtLeastExcludesAllForThatTime() {
		assumeTrue(this.one.store().keeping().isPresent(), "The store keeps no locks");
		long start = System.nanoTime();
		Lease kept = this.one.acquire(this.request);
		kept.holdAtLeast(SHORT_LEASE_TIME);
		kept.close();
		for (Instance instance : List.of(this.one, this.two)) {
			try (Lease next = instance.acquire(this.request)) {
				assertThat(since(start)).isGreaterThanOrEqualTo(SHORT_LEASE_TIME.minus(CLOCK_RESOLUTION));
				assertThat(next.fencingToken()).isGreaterThan(kept.fencingToken());
			}
		}
	}

	@Test
	void anOwnerEntersAgainOnAnyThreadOfItsInstanceAndTheLastLeaseReleasesTheLock() throws Exception {
		LockRequest owned = this.request.withOwner("order 1");
		Lease outer = this.one.acquire(owned);
		Lease inner = Callers.start(() -> this.one.acquire(owned)).get();
		Lease future = this.one.acquireAsync(owned).get(20, TimeUnit.SECONDS);
		assertThat(List.of(inner.fencingToken(), future.fencingToken())).containsOnly(outer.fencingToken());
		this.one.assertRefused(this.request.withOwner("order 2"));
		this.one.assertRefused(this.request);
		outer.close();
		future.close();
		this.two.assertRefused(owned);
		inner.ensureHeld();
		inner.close();
		this.two.acquire(owned).close();
	}

	@Test
	void aThreadEntersAgainAndAnotherThreadDoesNot() throws Exception {
		Lease outer = this.one.acquire(this.request);
		Lease inner = this.one.acquire(this.request);
		outer.close();
		this.one.assertRefused(this.request);
		this.two.assertRefused(this.request);
		inner.close();
		this.two.acquire(this.request).close();
	}

	@Test
	void aRegistryThatClosesRefusesAllAndWaitsForItsHolder() throws Exception {
		Instance closing = startInstance(LEASE_TIME, Duration.ofSeconds(20));
		Lease held = closing.acquire(this.request);
		Call<Long> waiter = closing.start(this.request).awaitParked();
		Call<Boolean> end = Callers.start(() -> {
			closing.registry().close();
			return held.isHeld();
		});
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(waiter::get);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> closing.acquire(unusedLock()));
		this.two.assertRefused(this.request);
		held.close();
		assertThat(end.get()).isFalse();
		this.two.acquire(this.request).close();
	}

	@Test
	void aLockThatOutlivesItsRegistryIsFreeWhenItsLeaseEnds() {
		Instance closing = startInstance(Duration.ofSeconds(2), Duration.ZERO);
		Lease held = closing.acquire(this.request);
		closing.registry().close();
		try (Lease next = this.two.acquire(this.request)) {
			assertThat(held.isHeld()).isFalse();
			assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
		}
	}

	@Test
	void aWaiterOfARegistryThatClosesLeavesNothing() {
		Instance closing = startInstance();
		Lease held = this.one.acquire(this.request);
		Call<Long> waiter = closing.startWaiter(this.request);
		closing.registry().close();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(waiter::get);
		assertNobodyWaitsFor(held);
	}

	private static Duration since(long start) {
		return Duration.ofNanos(System.nanoTime() - start);
	}

}
