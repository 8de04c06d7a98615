// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;

class TenureTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration SLICE = Duration.ofSeconds(1);

	private final ManualTime time = new ManualTime();

	@Test
	void canBeHandedOffWhileAThirdOfTheLeaseIsLeft() {
		Tenure tenure = tenure(Duration.ZERO, LEASE);
		this.time.advance(Duration.ofSeconds(19));
		assertThat(tenure.canBeHandedOn(this.time.now())).isTrue();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(tenure.canBeHandedOn(this.time.now())).isFalse();
		tenure.renewed(this.time.now(), LEASE, LEASE);
		assertThat(tenure.canBeHandedOn(this.time.now())).isTrue();
	}

	@Test
	void cannotBeHandedOffWhileItIsUncertainOrOver() {
		Tenure tenure = tenure(Duration.ZERO);
		tenure.suspect();
		assertThat(tenure.canBeHandedOn(this.time.now())).isFalse();
		tenure.renewed(this.time.now(), LEASE, LEASE);
		assertThat(tenure.canBeHandedOn(this.time.now())).isTrue();
		tenure.release();
		assertThat(tenure.canBeHandedOn(this.time.now())).isFalse();
	}

	@Test
	void canBeHandedOffForOneSlice() {
		Tenure tenure = tenure(Duration.ZERO);
		this.time.advance(SLICE.minusNanos(1));
		assertThat(tenure.canBeHandedOn(this.time.now())).isTrue();
		this.time.advance(Duration.ofNanos(1));
		assertThat(tenure.canBeHandedOn(this.time.now())).isFalse();
	}

	@Test
	void canBeHandedOffForTwentyRoundTripsToAStoreThatIsFarAway() {
		Tenure tenure = tenure(SLICE.dividedBy(10));
		this.time.advance(SLICE.multipliedBy(2).minusNanos(1));
		assertThat(tenure.canBeHandedOn(this.time.now())).isTrue();
		this.time.advance(Duration.ofNanos(1));
		assertThat(tenure.canBeHandedOn(this.time.now())).isFalse();
	}

	@Test
	void endsWithTheLastHoldThatItsTokensCanNumber() {
		Tenure tenure = tenure(Duration.ZERO);
		Waiter waiter = new ThreadWaiter(new Terms(EngineSettings.DEFAULTS, this.time), Duration.ZERO,
				LockMode.EXCLUSIVE, null, null, Thread.currentThread());
		long last = 0;
		for (int hold = 0; hold < 4096; hold++) {
			assertThat(tenure.canBeHandedOn(this.time.now())).isTrue();
			last = tenure.beginHold(waiter, LEASE, this.time.now()).fencingToken();
		}
		assertThat(tenure.canBeHandedOn(this.time.now())).isFalse();
		assertThat(last).isLessThan(2L << 12);
	}

	@Test
	void aHoldThatEndsAfterItsTenureWasLost() {
		Tenure tenure = tenure(Duration.ZERO);
		Hold hold = tenure.beginHold(new ThreadWaiter(new Terms(EngineSettings.DEFAULTS, this.time), Duration.ZERO,
				LockMode.EXCLUSIVE, null, null, Thread.currentThread()), LEASE, this.time.now());
		this.time.advance(LEASE);
		hold.end(this.time.now());
		assertThat(hold.isLost()).isTrue();
	}

	@Test
	void aFixedHoldEndsAtItsTimeThoughItsTenureLasts() {
		Tenure tenure = tenure(Duration.ZERO);
		Duration fixed = Duration.ofSeconds(10);
		Waiter waiter = new ThreadWaiter(new Terms(EngineSettings.DEFAULTS, this.time), Duration.ZERO,
				LockMode.EXCLUSIVE, fixed, null, Thread.currentThread());
		tenure.beginHold(waiter, LEASE, this.time.now());
		Hold hold = tenure.beginHold(waiter, fixed, this.time.now());
		this.time.advance(fixed.minusNanos(1));
		assertThat(hold.isHeld()).isTrue();
		this.time.advance(Duration.ofNanos(1));
		assertThat(hold.isHeld()).isFalse();
		assertThat(tenure.isHeld()).isTrue();
		hold.end(this.time.now());
		assertThat(hold.isLost()).isTrue();
	}

	@Test
	void theEndOfAHoldIsPublishedByOneOfSeveralThreadsThatExitIt() {
		Tenure tenure = tenure(Duration.ZERO);
		Hold hold = tenure.beginHold(new ThreadWaiter(new Terms(EngineSettings.DEFAULTS, this.time), Duration.ZERO,
				LockMode.EXCLUSIVE, null, null, Thread.currentThread()), LEASE, this.time.now());
		assertThat(hold.beginPublishing()).isFalse();
		hold.end(this.time.now());
		assertThat(hold.beginPublishing()).isTrue();
		assertThat(hold.beginPublishing()).isFalse();
	}

	@Test
	void endsOnce() {
		Tenure tenure = tenure(Duration.ZERO);
		assertThat(tenure.lose("it is a test")).isTrue();
		assertThat(tenure.release()).isFalse();
		assertThat(tenure.keep()).isFalse();
		assertThat(tenure.isLost()).isTrue();
	}

	@Test
	void theStoreMayKnowItsOwnerUntilTheLastRequestHasLostItsEffect() {
		Tenure tenure = tenure(Duration.ZERO);
		long start = this.time.now();
		assertThat(tenure.claimedUntil()).isEqualTo(start + LEASE.toNanos());
		tenure.claim(start + 5, LEASE);
		tenure.claim(start + 3, LEASE);
		assertThat(tenure.claimedUntil()).isEqualTo(start + 5 + LEASE.toNanos());
		tenure.uncertainUntil(start + 9 + LEASE.toNanos());
		assertThat(tenure.claimedUntil()).isEqualTo(start + 9 + LEASE.toNanos());
	}

	@Test
	void aLateRenewalRevivesNothing() {
		Tenure tenure = tenure(Duration.ZERO);
		tenure.lose("it is a test");
		tenure.renewed(this.time.now(), LEASE, LEASE);
		assertThat(tenure.isHeld()).isFalse();
		assertThat(tenure.isLost()).isTrue();
	}

	private Tenure tenure(Duration roundTrip) {
		return tenure(roundTrip, SLICE);
	}

	private Tenure tenure(Duration roundTrip, Duration slice) {
		return new Tenure(LockKey.of("stock"), OwnerToken.random(), new LockAttempt.Grant(1), LEASE, LEASE,
				this.time.now() - roundTrip.toNanos(), slice.toNanos(), new Timetable(this.time));
	}

}
