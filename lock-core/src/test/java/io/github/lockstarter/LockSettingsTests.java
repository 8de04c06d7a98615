// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;
import java.util.Map;

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

	private static final NameSettings ALL = NameSettings.NONE.withWaitTime(Duration.ZERO)
		.withLeaseTime(MINUTE)
		.withHoldAtLeast(SECOND)
		.withReactions(OnContention.SKIP, OnUnavailable.FALLBACK, OnLost.LOG);

	private static final LockRequest STOCK = LockRequest.of("stock", 1001);

	private static final LockRequest ORDER = LockRequest.of("order", 7);

	private final LockSettings settings = new LockSettings(Map.of("stock", ALL));

	private final ManualTime time = new ManualTime();

	private final LockMemory memory = new LockMemory(this.time);

	private DefaultLockRegistry registry = registry(NameSettings.NONE);

	@AfterEach
	void close() {
		this.registry.close();
	}

	@Test
	void aRequestGetsWhatItLeavesOpen() {
		LockRequest filled = STOCK.withWaitTime(Duration.ZERO).withLeaseTime(MINUTE);
		assertThat(this.settings.forLease(STOCK)).isEqualTo(filled);
		assertThat(this.settings.forBody(STOCK)).isEqualTo(filled.withHoldAtLeast(SECOND));
	}

	@Test
	void aRequestKeepsWhatItSays() {
		LockRequest all = STOCK.withWaitTime(MINUTE).withLeaseTime(SECOND).withHoldAtLeast(MINUTE).withOwner("me");
		assertThat(this.settings.forLease(all)).isEqualTo(all);
		assertThat(this.settings.forBody(all)).isEqualTo(all);
	}

	@Test
	void otherNamesAreNotAffected() {
		assertThat(this.settings.forLease(ORDER)).isSameAs(ORDER);
		assertThat(this.settings.forBody(ORDER)).isSameAs(ORDER);
		LockSetRequest orders = LockSetRequest.of("order", List.of(1, 2));
		assertThat(this.settings.forLease(orders)).isSameAs(orders);
		assertThat(LockSettings.NONE.forBody(STOCK)).isSameAs(STOCK);
	}

	@Test
	void eachLockOfASetGetsTheSettingsOfItsName() {
		LockSetRequest set = this.settings.forLease(LockSetRequest.of(ORDER, STOCK));
		assertThat(set.requests()).containsExactly(ORDER, STOCK.withLeaseTime(MINUTE));
		assertThat(set.waitTime()).isZero();
	}

	@Test
	void aSetWaitsForTheShortestTimeUnlessItSaysMore() {
		LockSettings settings = new LockSettings(Map.of("stock", NameSettings.NONE.withWaitTime(MINUTE), "order",
				NameSettings.NONE.withWaitTime(SECOND)));
		LockSetRequest both = LockSetRequest.of(STOCK, ORDER);
		assertThat(settings.forLease(both).waitTime()).isEqualTo(SECOND);
		assertThat(settings.forLease(both.withWaitTime(Duration.ZERO)).waitTime()).isZero();
		assertThat(settings.forLease(LockSetRequest.of(STOCK, LockRequest.of("none"))).waitTime()).isEqualTo(MINUTE);
	}

	@Test
	void theStricterReactionCounts() {
		LockSettings settings = new LockSettings(Map.of("lenient", ALL, "strict",
				ALL.withReactions(OnContention.THROW, OnUnavailable.THROW, OnLost.INTERRUPT)));
		assertThat(settings.onContention(List.of("lenient"))).isEqualTo(OnContention.SKIP);
		assertThat(settings.onContention(List.of("lenient", "strict"))).isEqualTo(OnContention.THROW);
		assertThat(settings.onContention(List.of("lenient", "none"))).isEqualTo(OnContention.THROW);
		assertThat(settings.onUnavailable(List.of("lenient"))).isEqualTo(OnUnavailable.FALLBACK);
		assertThat(settings.onUnavailable(List.of("none", "lenient"))).isEqualTo(OnUnavailable.THROW);
		assertThat(settings.onLost(onLostOf("lenient"))).isEqualTo(OnLost.LOG);
		assertThat(settings.onLost(onLostOf("lenient", "none"))).isEqualTo(OnLost.THROW);
		assertThat(settings.onLost(onLostOf("lenient", "strict"))).isEqualTo(OnLost.INTERRUPT);
		assertThat(settings.onLost(LockRequest.of("none"))).isEqualTo(OnLost.THROW);
	}

	private static LockSetRequest onLostOf(String... names) {
		return LockSetRequest.of(List.of(names).stream().map(LockRequest::of).toList());
	}

	@Test
	void settingsAreChecked() {
		assertThatIllegalArgumentException().isThrownBy(() -> new LockSettings(Map.of("no name", NameSettings.NONE)))
			.withMessageContaining("but was 'no name'");
		assertThatIllegalArgumentException().isThrownBy(() -> ALL.withWaitTime(Duration.ofNanos(-1)))
			.withMessageStartingWith("'waitTime' must not be negative");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> ALL.withLeaseTime(LockRequest.MIN_LEASE_TIME.minusMillis(1)))
			.withMessageStartingWith("'leaseTime' must be from 10 ms");
		assertThatIllegalArgumentException().isThrownBy(() -> ALL.withHoldAtLeast(Duration.ofDays(366)))
			.withMessageStartingWith("'holdAtLeast' must be from 10 ms");
		assertThatIllegalArgumentException().isThrownBy(() -> this.settings.forBody(STOCK.withMode(LockMode.READ)))
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
		try (LeaseSet leases = this.registry.acquireAll(LockSetRequest.of(STOCK, ORDER))) {
			assertThat(leases.get(STOCK.key()).remaining()).isEqualTo(certain(MINUTE));
			assertThat(leases.get(ORDER.key()).remaining()).isEqualTo(certain(Duration.ofSeconds(30)));
			assertThat(Callers.start(() -> this.registry.tryAcquireAll(LockSetRequest.of(STOCK, ORDER))).get())
				.isEmpty();
		}
	}

	@Test
	void aLockViewHasTheLeaseTimeOfItsName() {
		use(NameSettings.NONE.withLeaseTime(SECOND));
		this.registry.lock(STOCK.key()).lock();
		this.time.advance(SECOND);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.registry.lock(STOCK.key())::unlock);
	}

	@Test
	void aTemplateKeepsTheLockForTheTimeOfItsName() {
		use(NameSettings.NONE.withHoldAtLeast(MINUTE).withWaitTime(Duration.ZERO));
		LockTemplate template = new LockTemplate(this.registry);
		template.execute(STOCK, Lease::fencingToken);
		assertThatExceptionOfType(LockContendedException.class)
			.isThrownBy(() -> template.execute(STOCK, Lease::fencingToken));
		template.execute(ORDER, Lease::fencingToken);
		template.execute(ORDER, Lease::fencingToken);
	}

	@Test
	void aTemplateReactsToALossAsItsNameSaysUnlessItSaysSoItself() {
		use(NameSettings.NONE.withLeaseTime(SECOND)
			.withReactions(OnContention.DEFAULT, OnUnavailable.DEFAULT, OnLost.LOG));
		LockTemplate template = new LockTemplate(this.registry);
		assertThat(template.<Lease, String>execute(STOCK, this::outlive)).isEqualTo("late");
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> template.withOnLost(OnLost.THROW).<Lease, String>execute(STOCK, this::outlive));
		assertThat(template.withOnLost(OnLost.THROW)
			.withOnLost(OnLost.DEFAULT)
			.<Lease, String>execute(STOCK, this::outlive)).isEqualTo("late");
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

	private void use(NameSettings ofStock) {
		this.registry.close();
		this.registry = registry(ofStock);
	}

	private DefaultLockRegistry registry(NameSettings ofStock) {
		return new DefaultLockRegistry("stock", new MemoryLockStore(this.memory),
				new LockSettings(Map.of("stock", ofStock)), EngineSettings.DEFAULTS, LockListener.NO_OP, this.time);
	}

}
