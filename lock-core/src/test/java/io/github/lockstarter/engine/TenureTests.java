// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.ManualClock;

import static org.assertj.core.api.Assertions.assertThat;

class TenureTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration SLICE = Duration.ofMillis(50);

	private final ManualClock clock = new ManualClock();

	@Test
	void canBeHandedOffWhileAThirdOfTheLeaseIsLeft() {
		Tenure tenure = tenure(false);
		this.clock.advance(Duration.ofSeconds(19));
		assertThat(tenure.canBeHandedOn(this.clock.getAsLong())).isTrue();
		this.clock.advance(Duration.ofSeconds(1));
		assertThat(tenure.canBeHandedOn(this.clock.getAsLong())).isFalse();
		tenure.certainty().renewed(this.clock.getAsLong(), LEASE, LEASE);
		assertThat(tenure.canBeHandedOn(this.clock.getAsLong())).isTrue();
	}

	@Test
	void cannotBeHandedOffWhileItIsUncertainOrOver() {
		Tenure tenure = tenure(false);
		tenure.certainty().suspect();
		assertThat(tenure.canBeHandedOn(this.clock.getAsLong())).isFalse();
		tenure.certainty().renewed(this.clock.getAsLong(), LEASE, LEASE);
		assertThat(tenure.canBeHandedOn(this.clock.getAsLong())).isTrue();
		tenure.certainty().release();
		assertThat(tenure.canBeHandedOn(this.clock.getAsLong())).isFalse();
	}

	@Test
	void canBeHandedOffForOneSliceWhileAnotherJvmWaits() {
		Tenure tenure = tenure(true);
		this.clock.advance(SLICE.minusNanos(1));
		assertThat(tenure.canBeHandedOn(this.clock.getAsLong())).isTrue();
		this.clock.advance(Duration.ofNanos(1));
		assertThat(tenure.canBeHandedOn(this.clock.getAsLong())).isFalse();
	}

	@Test
	void endsWithTheLastHoldThatItsTokensCanNumber() {
		Tenure tenure = tenure(false);
		Waiter waiter = new ThreadWaiter(Duration.ZERO, true, LockMode.EXCLUSIVE, null);
		long last = 0;
		for (int hold = 0; hold < 4096; hold++) {
			assertThat(tenure.canBeHandedOn(this.clock.getAsLong())).isTrue();
			last = tenure.beginHold(waiter, LEASE, this.clock.getAsLong()).fencingToken();
		}
		assertThat(tenure.canBeHandedOn(this.clock.getAsLong())).isFalse();
		assertThat(last).isLessThan(2L << 12);
	}

	@Test
	void aHoldThatEndsAfterItsTenureWasLost() {
		Tenure tenure = tenure(false);
		Hold hold = tenure.beginHold(new ThreadWaiter(Duration.ZERO, true, LockMode.EXCLUSIVE, null), LEASE,
				this.clock.getAsLong());
		this.clock.advance(LEASE);
		hold.end(this.clock.getAsLong());
		assertThat(hold.isLost()).isTrue();
	}

	@Test
	void aFixedHoldEndsAtItsTimeThoughItsTenureLasts() {
		Tenure tenure = tenure(false);
		Duration fixed = Duration.ofSeconds(10);
		Waiter waiter = new ThreadWaiter(Duration.ZERO, true, LockMode.EXCLUSIVE, fixed);
		tenure.beginHold(waiter, LEASE, this.clock.getAsLong());
		Hold hold = tenure.beginHold(waiter, fixed, this.clock.getAsLong());
		this.clock.advance(fixed.minusNanos(1));
		assertThat(hold.isHeld()).isTrue();
		this.clock.advance(Duration.ofNanos(1));
		assertThat(hold.isHeld()).isFalse();
		assertThat(tenure.isHeld()).isTrue();
		hold.end(this.clock.getAsLong());
		assertThat(hold.isLost()).isTrue();
	}

	@Test
	void asksAfterHalfASliceWhetherAnotherJvmWaits() {
		Slice slice = tenure(false).slice();
		this.clock.advance(SLICE.dividedBy(2).minusNanos(1));
		assertThat(slice.beginProbe(this.clock.getAsLong())).isFalse();
		this.clock.advance(Duration.ofNanos(1));
		assertThat(slice.beginProbe(this.clock.getAsLong())).isTrue();
		this.clock.advance(SLICE);
		assertThat(slice.beginProbe(this.clock.getAsLong())).isFalse();
		slice.answer(this.clock.getAsLong(), false);
		assertThat(slice.beginProbe(this.clock.getAsLong())).isFalse();
		assertThat(slice.isOver(this.clock.getAsLong())).isFalse();
		this.clock.advance(SLICE);
		assertThat(slice.beginProbe(this.clock.getAsLong())).isTrue();
		slice.answer(this.clock.getAsLong(), true);
		assertThat(slice.isOver(this.clock.getAsLong())).isTrue();
		this.clock.advance(SLICE);
		assertThat(slice.beginProbe(this.clock.getAsLong())).isFalse();
	}

	@Test
	void mustAskWhenTheLastAnswerIsOlderThanASlice() {
		Tenure tenure = tenure(false);
		this.clock.advance(SLICE.minusNanos(1));
		assertThat(tenure.mustAsk(this.clock.getAsLong())).isFalse();
		this.clock.advance(Duration.ofNanos(1));
		assertThat(tenure.mustAsk(this.clock.getAsLong())).isTrue();
		tenure.slice().beginAsking(this.clock.getAsLong());
		assertThat(tenure.mustAsk(this.clock.getAsLong())).isTrue();
		tenure.slice().answer(this.clock.getAsLong(), false);
		assertThat(tenure.mustAsk(this.clock.getAsLong())).isFalse();
	}

	@Test
	void goesOnWhileAQuestionThatWasAskedInTimeIsUnderWay() {
		Tenure tenure = tenure(false);
		this.clock.advance(SLICE.minusNanos(1));
		assertThat(tenure.slice().beginProbe(this.clock.getAsLong())).isTrue();
		this.clock.advance(SLICE);
		assertThat(tenure.mustAsk(this.clock.getAsLong())).isFalse();
		tenure.slice().noAnswer(this.clock.getAsLong());
		assertThat(tenure.mustAsk(this.clock.getAsLong())).isFalse();
		this.clock.advance(SLICE);
		assertThat(tenure.mustAsk(this.clock.getAsLong())).isTrue();
	}

	@Test
	void needNotAskWhileItIsKnownThatAnotherJvmWaits() {
		Tenure tenure = tenure(true);
		this.clock.advance(SLICE.multipliedBy(3));
		assertThat(tenure.mustAsk(this.clock.getAsLong())).isFalse();
	}

	@Test
	void aLateRenewalRevivesNothing() {
		Tenure tenure = tenure(false);
		tenure.certainty().lose("it is a test");
		tenure.certainty().renewed(this.clock.getAsLong(), LEASE, LEASE);
		assertThat(tenure.isHeld()).isFalse();
		assertThat(tenure.certainty().isLost()).isTrue();
	}

	private Tenure tenure(boolean awaited) {
		return new Tenure(LockKey.of("stock"), OwnerToken.random(), new LockGrant(1, awaited), LEASE, LEASE,
				this.clock.getAsLong(), SLICE.toNanos(), new Timetable(this.clock));
	}

}
