// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;

class OwnershipTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration SLICE = Duration.ofSeconds(1).dividedBy(20);

	private final ManualTime time = new ManualTime();

	@Test
	void canBeHandedOffWhileAThirdOfTheLeaseIsLeft() {
		Ownership ownership = ownership(LEASE);
		this.time.advance(Duration.ofSeconds(19));
		assertThat(ownership.canBeHandedOn(this.time.now())).isTrue();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(ownership.canBeHandedOn(this.time.now())).isFalse();
		ownership.renewed(this.time.now(), LEASE, LEASE);
		assertThat(ownership.canBeHandedOn(this.time.now())).isTrue();
	}

	@Test
	void cannotBeHandedOffWhileItIsUncertainOrOver() {
		Ownership ownership = ownership(SLICE);
		ownership.suspect();
		assertThat(ownership.canBeHandedOn(this.time.now())).isFalse();
		ownership.renewed(this.time.now(), LEASE, LEASE);
		assertThat(ownership.canBeHandedOn(this.time.now())).isTrue();
		ownership.release();
		assertThat(ownership.canBeHandedOn(this.time.now())).isFalse();
	}

	@Test
	void canBeHandedOffForOneSlice() {
		Ownership ownership = ownership(SLICE);
		this.time.advance(SLICE.minusNanos(1));
		assertThat(ownership.canBeHandedOn(this.time.now())).isTrue();
		this.time.advance(Duration.ofNanos(1));
		assertThat(ownership.canBeHandedOn(this.time.now())).isFalse();
	}

	@Test
	void endsWithTheLastHoldThatItsTokensCanNumber() {
		Ownership ownership = ownership(SLICE);
		Waiter waiter = new ThreadWaiter(new Terms(EngineSettings.DEFAULTS, this.time), Duration.ZERO,
				LockMode.EXCLUSIVE, null, null, Thread.currentThread());
		long last = 0;
		for (int hold = 0; hold < 4096; hold++) {
			assertThat(ownership.canBeHandedOn(this.time.now())).isTrue();
			last = ownership.beginHold(waiter, this.time.now()).fencingToken();
		}
		assertThat(ownership.canBeHandedOn(this.time.now())).isFalse();
		assertThat(last).isLessThan(2L << 12);
	}

	@Test
	void aHoldThatEndsAfterItsOwnershipWasLost() {
		Ownership ownership = ownership(SLICE);
		Hold hold = ownership.beginHold(new ThreadWaiter(new Terms(EngineSettings.DEFAULTS, this.time), Duration.ZERO,
				LockMode.EXCLUSIVE, null, null, Thread.currentThread()), this.time.now());
		this.time.advance(LEASE);
		hold.end(this.time.now());
		assertThat(hold.isLost()).isTrue();
	}

	@Test
	void aFixedHoldEndsAtItsTimeThoughItsOwnershipLasts() {
		Ownership ownership = ownership(SLICE);
		Duration fixed = Duration.ofSeconds(10);
		Waiter waiter = new ThreadWaiter(new Terms(EngineSettings.DEFAULTS, this.time), Duration.ZERO,
				LockMode.EXCLUSIVE, fixed, null, Thread.currentThread());
		ownership.beginHold(waiter, this.time.now());
		Hold hold = ownership.beginHold(waiter, this.time.now());
		this.time.advance(fixed.minusNanos(1));
		assertThat(hold.isHeld()).isTrue();
		this.time.advance(Duration.ofNanos(1));
		assertThat(hold.isHeld()).isFalse();
		assertThat(ownership.isHeld()).isTrue();
		hold.end(this.time.now());
		assertThat(hold.isLost()).isTrue();
	}

	@Test
	void theEndOfAHoldIsPublishedByOneOfSeveralThreadsThatExitIt() {
		Ownership ownership = ownership(SLICE);
		Hold hold = ownership.beginHold(new ThreadWaiter(new Terms(EngineSettings.DEFAULTS, this.time), Duration.ZERO,
				LockMode.EXCLUSIVE, null, null, Thread.currentThread()), this.time.now());
		assertThat(hold.beginPublishing()).isFalse();
		hold.end(this.time.now());
		assertThat(hold.beginPublishing()).isTrue();
		assertThat(hold.beginPublishing()).isFalse();
	}

	@Test
	void endsOnce() {
		Ownership ownership = ownership(SLICE);
		assertThat(ownership.lose("it is a test")).isTrue();
		assertThat(ownership.release()).isFalse();
		assertThat(ownership.keep()).isFalse();
		assertThat(ownership.isLost()).isTrue();
	}

	@Test
	void theStoreMayKnowItsOwnerUntilTheLastRequestHasLostItsEffect() {
		Ownership ownership = ownership(SLICE);
		long start = this.time.now();
		assertThat(ownership.claimedUntil()).isEqualTo(start + LEASE.toNanos());
		ownership.claim(start + 5, LEASE);
		ownership.claim(start + 3, LEASE);
		assertThat(ownership.claimedUntil()).isEqualTo(start + 5 + LEASE.toNanos());
		ownership.uncertainUntil(start + 9 + LEASE.toNanos());
		assertThat(ownership.claimedUntil()).isEqualTo(start + 9 + LEASE.toNanos());
	}

	@Test
	void aLateRenewalRevivesNothing() {
		Ownership ownership = ownership(SLICE);
		ownership.lose("it is a test");
		ownership.renewed(this.time.now(), LEASE, LEASE);
		assertThat(ownership.isHeld()).isFalse();
		assertThat(ownership.isLost()).isTrue();
	}

	private Ownership ownership(Duration slice) {
		return new Ownership(LockKey.of("stock"), OwnerToken.random(), new AcquireResult.Grant(1), LEASE, LEASE,
				this.time.now(), slice.toNanos(), new Timetable(this.time));
	}

}
