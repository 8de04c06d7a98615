// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.ReleaseOutcome;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The part of the contract of every {@link LockStore} that is about kept locks, and about
 * late requests of their last owner.
 */
abstract class AbstractKeptLockTests extends AbstractAtomicityTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private static final Duration ALMOST_AN_HOUR = Duration.ofMinutes(50);

	@Test
	void aKeptLockExcludesAllForItsTime() {
		this.one.grant(this.key, this.owner);
		assertThat(keep(HOUR)).isTrue();
		this.two.mustNotGet(this.key, this.other, ALMOST_AN_HOUR, HOUR);
		this.one.mustNotGet(this.key, this.other);
		this.two.mustNotGet(this.key, OwnerToken.random(LockMode.READ));
		this.two.mustNotGet(this.key, OwnerToken.random(LockMode.FAIR));
	}

	@Test
	void aKeptLockIsGrantedWhenItsTimeIsOver() {
		long base = this.one.grant(this.key, this.owner);
		keep(LEASE_TIME);
		this.two.mustNotGet(this.key, this.other);
		expire(this.key, this.owner);
		assertGrowing(base, this.two.grant(this.key, this.other));
	}

	@Test
	void aRenewalThatComesAfterTheKeepChangesNothing() {
		this.one.grant(this.key, this.owner);
		keep(HOUR);
		this.one.mustNotHold(this.key, this.owner);
		this.two.mustNotGet(this.key, this.other, ALMOST_AN_HOUR, HOUR);
		assertThat(this.one.client().renew(this.key, this.owner, HOUR.multipliedBy(2))).isFalse();
		this.two.mustNotGet(this.key, this.other, Duration.ZERO, HOUR);
	}

	@Test
	void anAcquisitionThatComesAfterTheKeepChangesNothing() {
		this.one.grant(this.key, this.owner);
		keep(HOUR);
		this.one.mustNotGet(this.key, this.owner);
		this.two.mustNotGet(this.key, this.other, ALMOST_AN_HOUR, HOUR);
	}

	@Test
	void aReleaseThatComesAfterTheKeepFreesNobody() {
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		keep(HOUR);
		assertThat(this.one.release(this.key, this.owner, null)).isEqualTo(ReleaseOutcome.NOT_OWNER);
		assertThat(heardBy(this.two)).isEmpty();
		this.two.mustNotGet(this.key, this.other, ALMOST_AN_HOUR, HOUR);
	}

	@Test
	void aRepeatedKeepHasTheSameAnswerAndTheFirstTimeCounts() {
		this.one.grant(this.key, this.owner);
		assertThat(keep(HOUR)).isTrue();
		assertThat(keep(SHORTER_LEASE_TIME)).isTrue();
		this.two.mustNotGet(this.key, this.other, ALMOST_AN_HOUR, HOUR);
	}

	@Test
	void nobodyElseKeepsALock() {
		this.one.grant(this.key, this.owner);
		assertThat(this.two.keep(this.key, this.other, HOUR)).isFalse();
		this.two.mustNotGet(this.key, this.other, Duration.ZERO, LEASE_TIME);
		this.one.mustHold(this.key, this.owner);
	}

	@Test
	void aFreeLockIsNotKept() {
		assertThat(keep(HOUR)).isFalse();
		this.two.grant(this.key, this.other);
	}

	@Test
	void aLockThatSomebodyElseKeepsIsNotKeptAgain() {
		this.two.grant(this.key, this.other);
		this.two.keep(this.key, this.other, HOUR);
		assertThat(keep(HOUR.multipliedBy(2))).isFalse();
		this.two.mustNotGet(this.key, this.owner, Duration.ZERO, HOUR);
	}

	@Test
	void aShareIsNotKept() {
		OwnerToken reader = OwnerToken.random(LockMode.READ);
		this.one.grant(this.key, reader);
		assertThat(this.one.keep(this.key, reader, HOUR)).isFalse();
		this.two.mustNotGet(this.key, this.other, Duration.ZERO, LEASE_TIME);
		this.one.mustHold(this.key, reader);
	}

	private boolean keep(Duration time) {
		return this.one.keep(this.key, this.owner, time);
	}

}
