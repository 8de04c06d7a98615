// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LockSettingsTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final LockSettings.ForName ALL = new LockSettings.ForName(Duration.ZERO, MINUTE, SECOND, null,
			OnContention.SKIP, OnUnavailable.FALLBACK, OnLost.LOG);

	private static final LockRequest STOCK = LockRequest.of("stock", 1001);

	private static final LockRequest ORDER = LockRequest.of("order", 7);

	private final LockSettings settings = new LockSettings(Map.of("stock", ALL));

	private final ManualTime time = new ManualTime();

	private final LockMemory memory = new LockMemory(this.time);

	private DefaultLockRegistry registry = registry(LockSettings.ForName.NONE);

	@AfterEach
	void close() {
		this.registry.close();
	}

	@Test
	void aRequestGetsWhatItLeavesOpen() {
		assertThat(this.settings.get("stock")).isSameAs(ALL);
		assertThat(this.settings.holdAtLeast(STOCK)).isEqualTo(SECOND);
		assertThat(this.settings.holdAtLeast(STOCK.withHoldAtLeast(MINUTE))).isEqualTo(MINUTE);
	}

	@Test
	void otherNamesAreNotAffected() {
		assertThat(this.settings.get("order")).isSameAs(LockSettings.ForName.NONE);
		assertThat(this.settings.holdAtLeast(ORDER)).isNull();
	}

	@Test
	void theStricterReactionToALossCounts() {
		LockSettings settings = new LockSettings(
				Map.of("lenient", ALL, "strict", ofName(null, null, OnLost.INTERRUPT)));
		assertThat(settings.onLost(LockRequest.of("lenient"))).isEqualTo(OnLost.LOG);
		assertThat(settings.onLost(requests("lenient"))).isEqualTo(OnLost.LOG);
		assertThat(settings.onLost(requests("lenient", "none"))).isEqualTo(OnLost.THROW);
		assertThat(settings.onLost(requests("none", "lenient"))).isEqualTo(OnLost.THROW);
		assertThat(settings.onLost(requests("lenient", "strict"))).isEqualTo(OnLost.INTERRUPT);
		assertThat(settings.onLost(requests("strict", "none"))).isEqualTo(OnLost.INTERRUPT);
		assertThat(settings.onLost(LockRequest.of("none"))).isEqualTo(OnLost.THROW);
	}

	private static List<LockRequest> requests(String... names) {
		return List.of(names).stream().map(LockRequest::of).toList();
	}

	@Test
	void settingsAreChecked() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new LockSettings(Map.of("no name", LockSettings.ForName.NONE)))
			.withMessageContaining("but was 'no name'");
		assertThatIllegalArgumentException().isThrownBy(() -> ofName(Duration.ofNanos(-1), null, OnLost.DEFAULT))
			.withMessageStartingWith("'waitTime' must not be negative");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> ofName(null, LockRequest.MIN_LEASE_TIME.minusMillis(1), OnLost.DEFAULT))
			.withMessageStartingWith("'leaseTime' must be from 10 ms");
		assertThatIllegalArgumentException().isThrownBy(() -> kept(Duration.ofDays(366)))
			.withMessageStartingWith("'holdAtLeast' must be from 10 ms");
		assertThatIllegalArgumentException().isThrownBy(() -> limited(null, Duration.ofDays(366)))
			.withMessageStartingWith("'holdAtMost' must be from 10 ms");
		assertThatIllegalArgumentException().isThrownBy(() -> limited(SECOND, MINUTE))
			.withMessageContaining("fixed 'leaseTime'");
		assertThatIllegalArgumentException().isThrownBy(() -> this.settings.holdAtLeast(STOCK.withMode(LockMode.READ)))
			.withMessageStartingWith("'holdAtLeast' is not possible in mode READ");
	}

	@Test
	void aRegistryAppliesTimesButNotThatOfATemplate() throws Exception {
		use(ALL);
		try (Lease lease = this.registry.acquire(STOCK)) {
			assertThat(lease.remaining()).isEqualTo(certain(MINUTE));
			assertThat(Callers.start(() -> this.registry.tryAcquire(STOCK)).get()).isEmpty();
		}
		assertThat(this.memory.isEmpty()).isTrue();
		try (LeaseSet leases = this.registry.acquireAll(List.of(STOCK, ORDER))) {
			assertThat(leases.get(STOCK.key()).remaining()).isEqualTo(certain(MINUTE));
			assertThat(leases.get(ORDER.key()).remaining()).isEqualTo(certain(Duration.ofSeconds(30)));
			assertThat(Callers.start(() -> this.registry.tryAcquireAll(List.of(STOCK, ORDER))).get()).isEmpty();
		}
	}

	@Test
	void whatARequestSaysComesFirst() {
		use(ALL);
		Lease held = this.registry.acquireAsync(STOCK.withLeaseTime(SECOND)).join();
		assertThat(held.remaining()).isEqualTo(certain(SECOND));
		this.time.letPass(() -> this.registry.acquire(STOCK.withWaitTime(MINUTE))).close();
		assertThat(held.isHeld()).isFalse();
	}

	@Test
	void aFutureLeaseHasTheTimesOfItsNameAsWell() {
		use(ALL);
		Lease lease = this.registry.acquireAsync(STOCK).join();
		assertThat(lease.remaining()).isEqualTo(certain(MINUTE));
		assertThat(this.registry.acquireAsync(STOCK)).failsWithin(Duration.ofSeconds(20))
			.withThrowableThat()
			.withCauseInstanceOf(LockContendedException.class);
		lease.close();
	}

	@Test
	void aSetWaitsForTheShortestTimeOfItsNamesUnlessItSaysMore() {
		LockSettings settings = new LockSettings(
				Map.of("stock", ofName(MINUTE, null, OnLost.DEFAULT), "order", ofName(SECOND, null, OnLost.DEFAULT)));
		this.registry.close();
		this.registry = registry(settings);
		Lease held = this.registry.acquireAsync(ORDER).join();
		assertWaits(SECOND, List.of(STOCK, ORDER));
		assertWaits(Duration.ZERO, List.of(STOCK, ORDER.withWaitTime(Duration.ZERO)));
		assertWaits(Duration.ofSeconds(2), List.of(STOCK.withWaitTime(Duration.ofSeconds(2)), ORDER));
		held.close();
	}

	private void assertWaits(Duration expected, List<LockRequest> requests) {
		assertThatExceptionOfType(LockContendedException.class)
			.isThrownBy(() -> this.time.letPass(() -> this.registry.acquireAll(requests)))
			.satisfies((contention) -> assertThat(contention.getWaited()).isEqualTo(expected));
	}

	@Test
	void aLockViewHasTheLeaseTimeOfItsName() {
		use(ofName(null, SECOND, OnLost.DEFAULT));
		this.registry.lock(STOCK.key()).lock();
		this.time.advance(SECOND);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.registry.lock(STOCK.key())::unlock);
	}

	@Test
	void aTemplateKeepsTheLockForTheTimeOfItsName() {
		use(kept(MINUTE));
		LockTemplate template = new LockTemplate(this.registry);
		template.execute(STOCK, Lease::fencingToken);
		assertThatExceptionOfType(LockContendedException.class)
			.isThrownBy(() -> template.execute(STOCK, Lease::fencingToken));
		template.execute(ORDER, Lease::fencingToken);
		template.execute(ORDER, Lease::fencingToken);
	}

	@Test
	void aTemplateReactsToALossAsItsNameSaysUnlessItSaysSoItself() {
		use(ofName(null, SECOND, OnLost.LOG));
		LockTemplate template = new LockTemplate(this.registry);
		assertThat(template.<String>execute(STOCK, this::outlive)).isEqualTo("late");
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> template.withOnLost(OnLost.THROW).<String>execute(STOCK, this::outlive));
		assertThat(template.withOnLost(OnLost.THROW).withOnLost(OnLost.DEFAULT).<String>execute(STOCK, this::outlive))
			.isEqualTo("late");
	}

	private String outlive(Lease lease) {
		this.time.advance(SECOND);
		assertThat(lease.isHeld()).isFalse();
		return "late";
	}

	/** A lease counts for less, because the clock of the store may be faster. */
	private static Duration certain(Duration leaseTime) {
		return leaseTime.minus(leaseTime.dividedBy(100)).minusMillis(2);
	}

	private static LockSettings.ForName ofName(@Nullable Duration waitTime, @Nullable Duration leaseTime,
			OnLost onLost) {
		return new LockSettings.ForName(waitTime, leaseTime, null, null, OnContention.DEFAULT, OnUnavailable.DEFAULT,
				onLost);
	}

	private static LockSettings.ForName kept(Duration holdAtLeast) {
		return new LockSettings.ForName(Duration.ZERO, null, holdAtLeast, null, OnContention.DEFAULT,
				OnUnavailable.DEFAULT, OnLost.DEFAULT);
	}

	private static LockSettings.ForName limited(@Nullable Duration leaseTime, Duration holdAtMost) {
		return new LockSettings.ForName(null, leaseTime, null, holdAtMost, OnContention.DEFAULT, OnUnavailable.DEFAULT,
				OnLost.DEFAULT);
	}

	private void use(LockSettings.ForName ofStock) {
		this.registry.close();
		this.registry = registry(ofStock);
	}

	private DefaultLockRegistry registry(LockSettings.ForName ofStock) {
		return registry(new LockSettings(Map.of("stock", ofStock)));
	}

	private DefaultLockRegistry registry(LockSettings settings) {
		return new DefaultLockRegistry("stock", new MemoryLockStore(this.memory), settings, EngineSettings.DEFAULTS,
				LockListener.NO_OP, this.time);
	}

}
