// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.testsupport.ManualInstances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Locks that are kept after their owner has released them.
 */
class HoldAtLeastTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private static final LockRequest REQUEST = LockRequest.of("report", "today");

	private static final LockRequest AT_ONCE = REQUEST.withWaitTime(Duration.ZERO);

	private static final LockRequest FOR_AN_HOUR = REQUEST.withHoldAtLeast(HOUR);

	@RegisterExtension
	final ManualInstances instances = new ManualInstances();

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private final DefaultLockRegistry registry = this.instances.registry(this.instances.store(),
			EngineSettings.DEFAULTS, this.events::add);

	private final DefaultLockRegistry other = this.instances.registry();

	private final LockTemplate template = new LockTemplate(this.registry);

	@Test
	void afterASuccessTheLockIsKeptForTheRestOfTheTime() {
		String result = this.template.execute(FOR_AN_HOUR, (lease) -> {
			this.instances.time.advance(Duration.ofMinutes(20));
			return "done";
		});
		assertThat(result).isEqualTo("done");
		assertThat(this.events).last().isEqualTo(kept(Duration.ofMinutes(20), Duration.ofMinutes(40)));
		this.instances.time.advance(Duration.ofMinutes(40).minusNanos(1));
		assertThat(this.other.tryAcquire(AT_ONCE)).isEmpty();
		assertThat(this.registry.tryAcquire(AT_ONCE)).isEmpty();
		this.instances.time.advance(Duration.ofNanos(1));
		assertThat(this.other.tryAcquire(AT_ONCE)).hasValueSatisfying(Lease::close);
	}

	private LockEvent kept(Duration held, Duration rest) {
		LockEvent.Acquired acquired = (LockEvent.Acquired) this.events.get(0);
		return new LockEvent.Kept(REQUEST.key(), LockMode.EXCLUSIVE, "MemoryLockStore", acquired.fencingToken(), held,
				rest);
	}

	@Test
	void aWaiterTakesOverFromARunnerThatFails() throws Exception {
		List<String> runners = new CopyOnWriteArrayList<>();
		LockTemplate there = new LockTemplate(this.other);
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute(FOR_AN_HOUR, (lease) -> {
			Callers.start(() -> there.execute(FOR_AN_HOUR, (next) -> runners.add("waiter")));
			this.instances.time.awaitParked(1);
			throw new IllegalStateException("expected by the test");
		}));
		Awaitility.await().until(() -> runners.contains("waiter") && this.registry.tryAcquire(AT_ONCE).isEmpty());
	}

	@Test
	void aSuccessWithinAFailureCountsForNothing() {
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute(FOR_AN_HOUR, (lease) -> {
			this.template.execute(FOR_AN_HOUR, (inner) -> "done");
			throw new IllegalStateException("expected by the test");
		}));
		assertThat(this.other.tryAcquire(AT_ONCE)).hasValueSatisfying(Lease::close);
	}

	@Test
	void theTimeOfAnOuterLeaseCountsBesideTheShorterOneOfANestedBody() {
		try (Lease outer = this.registry.acquire(REQUEST)) {
			outer.holdAtLeast(HOUR);
			this.template.execute(REQUEST.withHoldAtLeast(Duration.ofMinutes(1)), (inner) -> "done");
		}
		this.instances.time.advance(HOUR.minusNanos(1));
		assertThat(this.other.tryAcquire(AT_ONCE)).isEmpty();
	}

	@Test
	void theFailureOfANestedBodyTakesBackNothingOfTheOtherLeases() {
		try (Lease outer = this.registry.acquire(REQUEST)) {
			this.template.execute(FOR_AN_HOUR, (inner) -> "done");
			assertThatIllegalStateException().isThrownBy(() -> this.template.execute(FOR_AN_HOUR, (inner) -> {
				throw new IllegalStateException("expected by the test");
			}));
		}
		this.instances.time.advance(HOUR.minusNanos(1));
		assertThat(this.other.tryAcquire(AT_ONCE)).isEmpty();
	}

	@Test
	void aBodyThatTakesLongerGivesTheLockBackAtItsEnd() {
		this.template.executeWithoutResult(FOR_AN_HOUR, (lease) -> this.instances.time.advance(HOUR));
		assertThat(this.other.tryAcquire(AT_ONCE)).hasValueSatisfying(Lease::close);
		assertThat(this.events).last().isInstanceOf(LockEvent.Released.class);
	}

	@Test
	void aWaiterOfTheSameInstanceIsNotHandedTheLock() throws Exception {
		Lease lease = this.registry.acquire(REQUEST);
		Call<Optional<Lease>> waiter = Callers
			.start(() -> this.registry.tryAcquire(REQUEST.withWaitTime(Duration.ofMinutes(1))));
		this.instances.time.awaitParked(1);
		lease.holdAtLeast(HOUR);
		lease.close();
		this.instances.time.advance(Duration.ofMinutes(1));
		assertThat(waiter.get()).isEmpty();
	}

	@Test
	void anInstanceThatEndsLeavesTheLockTaken() {
		this.template.execute(FOR_AN_HOUR, (lease) -> "done");
		this.registry.close();
		assertThat(this.other.tryAcquire(AT_ONCE)).isEmpty();
	}

	@Test
	void theLastWishCountsAndZeroTakesItBack() {
		try (Lease lease = this.registry.acquire(REQUEST)) {
			lease.holdAtLeast(HOUR);
			lease.holdAtLeast(Duration.ZERO);
		}
		assertThat(this.other.tryAcquire(AT_ONCE)).hasValueSatisfying(Lease::close);
	}

	@Test
	void aReentrantLeaseMayWishForTheWhole() {
		try (Lease outer = this.registry.acquire(REQUEST)) {
			try (Lease inner = this.registry.acquire(REQUEST)) {
				inner.holdAtLeast(HOUR);
			}
			assertThat(outer.isHeld()).isTrue();
		}
		this.instances.time.advance(HOUR.minusNanos(1));
		assertThat(this.other.tryAcquire(AT_ONCE)).isEmpty();
		this.instances.time.advance(Duration.ofNanos(1));
		assertThat(this.other.tryAcquire(AT_ONCE)).hasValueSatisfying(Lease::close);
	}

	@Test
	void aTimeHasBoundsAndAClosedLeaseIgnoresIt() {
		Lease lease = this.registry.acquire(REQUEST);
		assertThatIllegalArgumentException().isThrownBy(() -> lease.holdAtLeast(Duration.ofNanos(-1)))
			.withMessage("'time' must not be negative or longer than 365 days, but was PT-0.000000001S");
		assertThatIllegalArgumentException().isThrownBy(() -> lease.holdAtLeast(Duration.ofDays(366)));
		lease.close();
		lease.holdAtLeast(HOUR);
		assertThat(this.other.tryAcquire(AT_ONCE)).hasValueSatisfying(Lease::close);
	}

}
