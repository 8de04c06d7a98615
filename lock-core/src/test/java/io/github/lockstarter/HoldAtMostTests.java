// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.testsupport.ManualInstances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Leases that are renewed up to a limit.
 */
class HoldAtMostTests {

	private static final Duration LEASE_TIME = EngineSettings.DEFAULTS.leaseTime();

	private static final Duration LIMIT = Duration.ofMinutes(5);

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private static final LockRequest LIMITED = REQUEST.withHoldAtMost(LIMIT);

	private static final LockRequest AT_ONCE = REQUEST.withWaitTime(Duration.ZERO);

	private static final String REASON = "it was not released within its 'holdAtMost' of 300000 ms";

	@RegisterExtension
	final ManualInstances instances = new ManualInstances();

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private final FaultInjectingStore store = this.instances.store();

	private final DefaultLockRegistry registry = this.instances.registry(this.store, EngineSettings.DEFAULTS,
			this.events::add);

	private final DefaultLockRegistry other = this.instances.registry();

	@Test
	void aBodyThatHangsLosesTheLockAtTheLimit() {
		List<LockLostException> losses = new CopyOnWriteArrayList<>();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> new LockTemplate(this.registry).executeWithoutResult(LIMITED, (lease) -> {
				lease.onLost(losses::add);
				this.instances.time.advance(LIMIT.minus(SECOND));
				assertThat(lease.remaining()).isEqualTo(SECOND);
				assertThat(this.other.tryAcquire(AT_ONCE)).isEmpty();
				this.instances.time.advance(SECOND);
				assertThat(lease.isHeld()).isFalse();
				assertThat(losses).singleElement()
					.satisfies((loss) -> assertThat(loss).hasMessageContaining("was lost: " + REASON + ";"));
				assertThat(this.other.tryAcquire(AT_ONCE)).hasValueSatisfying(Lease::close);
			}))
			.withMessageContaining(REASON);
		assertThat(this.events).last()
			.isInstanceOfSatisfying(LockEvent.Lost.class, (lost) -> assertThat(lost.reason()).isEqualTo(REASON));
	}

	@Test
	void aCrashCostsOneLeaseOnly() {
		Lease lease = this.registry.acquire(LIMITED);
		this.instances.time.advance(Duration.ofMinutes(1));
		this.store.renew.loseRequests(() -> true);
		this.instances.time.advance(LEASE_TIME);
		assertThat(this.other.tryAcquire(AT_ONCE)).hasValueSatisfying(Lease::close);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close)
			.withMessageContaining("its lease expired before it could be renewed");
	}

	@Test
	void aLimitMayBeShorterThanALease() {
		Lease lease = this.registry.acquire(REQUEST.withHoldAtMost(SECOND));
		assertThat(lease.remaining()).isLessThan(SECOND);
		this.instances.time.advance(SECOND);
		assertThat(this.store.renew.calls()).as("no renewal, only checks").isLessThanOrEqualTo(3);
		assertThat(this.other.tryAcquire(AT_ONCE)).hasValueSatisfying(Lease::close);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close)
			.withMessageContaining("within its 'holdAtMost' of 1000 ms");
	}

	@Test
	void aLeaseThatIsClosedInTimeIsReleased() {
		this.registry.acquire(LIMITED).close();
		assertThat(this.instances.memory.isEmpty()).isTrue();
		this.instances.time.advance(LIMIT);
		assertThat(this.events).last().isInstanceOf(LockEvent.Released.class);
	}

	@Test
	void afterAHandOffTheLimitCountsAnewAndForItsOwnHoldOnly() {
		Lease first = this.registry.acquire(LIMITED);
		CompletableFuture<Lease> second = this.registry.acquireAsync(LIMITED.withWaitTime(LockRequest.FOREVER));
		CompletableFuture<Lease> third = this.registry.acquireAsync(REQUEST.withWaitTime(LockRequest.FOREVER));
		this.instances.time.advance(Duration.ofMillis(10));
		first.close();
		Lease limited = second.join();
		assertThat(this.store.acquire.calls()).isEqualTo(1);
		this.instances.time.advance(LIMIT.minus(SECOND));
		assertThat(limited.remaining()).isEqualTo(SECOND);
		this.instances.time.advance(SECOND);
		assertThat(limited.isHeld()).isFalse();
		Lease unlimited = third.join();
		this.instances.time.advance(LIMIT.multipliedBy(2));
		assertThat(unlimited.isHeld()).isTrue();
		unlimited.close();
	}

	@Test
	void aNestedAcquisitionSharesTheLimitOfTheOuterOne() {
		Lease outer = this.registry.acquire(LIMITED);
		this.instances.time.advance(LIMIT.minus(SECOND));
		Lease nested = this.registry.acquire(REQUEST.withHoldAtMost(Duration.ofHours(1)));
		assertThat(nested.remaining()).isEqualTo(SECOND);
		this.instances.time.advance(SECOND);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(nested::close);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(outer::close);
	}

	@Test
	void aLeaseThatNobodyClosesLeavesNothing() {
		Lease forgotten = this.registry.acquire(LIMITED);
		this.instances.time.advance(LIMIT);
		try (Lease next = this.registry.acquire(AT_ONCE)) {
			assertThat(next.fencingToken()).isGreaterThan(forgotten.fencingToken());
		}
		assertThat(this.instances.memory.isEmpty()).isTrue();
	}

	@Test
	void aReaderLosesItsShareAlone() {
		LockRequest read = REQUEST.withMode(LockMode.READ);
		try (Lease lasting = this.registry.acquire(read)) {
			Lease limited = this.registry.acquireAsync(read.withHoldAtMost(LIMIT)).join();
			this.instances.time.advance(LIMIT);
			assertThat(limited.isHeld()).isFalse();
			assertThat(lasting.isHeld()).isTrue();
			assertThat(this.other.tryAcquire(AT_ONCE.withMode(LockMode.WRITE))).isEmpty();
		}
	}

	@Test
	void eachLockOfASetHasItsOwnLimit() {
		LockRequest order = LockRequest.of("order", 7);
		LeaseSet leases = this.registry.acquireAll(List.of(LIMITED, order));
		this.instances.time.advance(LIMIT);
		assertThat(leases.get(LIMITED.key()).isHeld()).isFalse();
		assertThat(leases.get(order.key()).isHeld()).isTrue();
		assertThat(leases.isHeld()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(leases::close).withMessageContaining(REASON);
	}

	@Test
	void theLimitOfANameAppliesUnlessTheRequestHasOne() {
		LockSettings settings = new LockSettings(Map.of("stock", new LockSettings.ForName(null, null, null, LIMIT,
				OnContention.DEFAULT, OnUnavailable.DEFAULT, OnLost.DEFAULT)));
		try (DefaultLockRegistry named = new DefaultLockRegistry("named", this.instances.store(), settings,
				EngineSettings.DEFAULTS, LockListener.NO_OP, this.instances.time)) {
			Lease limited = named.acquire(REQUEST);
			Lease longer = named.acquire(LockRequest.of("stock", 1002).withHoldAtMost(LIMIT.plus(SECOND)));
			Lease fixed = named.acquire(LockRequest.of("stock", 1003).withLeaseTime(LIMIT.multipliedBy(2)));
			Lease ofOtherName = named.acquire(LockRequest.of("order", 7));
			named.lock(LockKey.of("stock", 1004)).lock();
			this.instances.time.advance(LIMIT);
			assertThat(limited.isHeld()).isFalse();
			assertThat(longer.remaining()).isEqualTo(SECOND);
			assertThat(fixed.isHeld()).isTrue();
			assertThat(ofOtherName.isHeld()).isTrue();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(named.lock(LockKey.of("stock", 1004))::unlock)
				.withMessageContaining(REASON);
			longer.close();
			fixed.close();
			ofOtherName.close();
		}
	}

}
