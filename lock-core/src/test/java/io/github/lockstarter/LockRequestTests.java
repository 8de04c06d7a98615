// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LockRequestTests {

	private final LockRequest request = LockRequest.of("stock", 1001);

	@Test
	void timesAreThoseOfTheRegistryUnlessSet() {
		assertThat(this.request.key()).isEqualTo(LockKey.of("stock", 1001));
		assertThat(this.request.waitTime()).isNull();
		assertThat(this.request.leaseTime()).isNull();
		assertThat(this.request.mode()).isEqualTo(LockMode.EXCLUSIVE);
		assertThat(this.request.withWaitTime(Duration.ofSeconds(1)).withLeaseTime(Duration.ofSeconds(2))).satisfies(
				(timed) -> assertThat(timed.waitTime()).hasSeconds(1),
				(timed) -> assertThat(timed.leaseTime()).hasSeconds(2));
	}

	@Test
	void aWaitTimeMayBeZeroOrWithoutEndButNotNegative() {
		assertThat(this.request.withWaitTime(Duration.ZERO).waitTime()).isZero();
		assertThat(this.request.withWaitTime(Duration.ofDays(200_000)).waitTime()).isEqualTo(LockRequest.FOREVER);
		assertThatIllegalArgumentException().isThrownBy(() -> this.request.withWaitTime(Duration.ofNanos(-1)))
			.withMessage("'waitTime' must not be negative, but was PT-0.000000001S");
	}

	@Test
	void aLeaseTimeHasBounds() {
		assertThat(this.request.withLeaseTime(LockRequest.MIN_LEASE_TIME).leaseTime()).hasMillis(10);
		assertThat(this.request.withLeaseTime(Duration.ofDays(365)).leaseTime()).hasDays(365);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.request.withLeaseTime(LockRequest.MIN_LEASE_TIME.minusMillis(1)))
			.withMessage("'leaseTime' must be from 10 ms to 365 days, but was PT0.009S");
		assertThatIllegalArgumentException().isThrownBy(() -> this.request.withLeaseTime(Duration.ofDays(366)));
	}

	@Test
	void aTimeToHoldAtLeastHasTheSameBounds() {
		assertThat(this.request.withHoldAtLeast(Duration.ofHours(23)).holdAtLeast()).hasHours(23);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.request.withHoldAtLeast(LockRequest.MIN_LEASE_TIME.minusMillis(1)))
			.withMessage("'holdAtLeast' must be from 10 ms to 365 days, but was PT0.009S");
		assertThatIllegalArgumentException().isThrownBy(() -> this.request.withHoldAtLeast(Duration.ofDays(366)));
	}

	@Test
	void aTimeToHoldAtMostHasTheSameBoundsAndReplacesALeaseTime() {
		assertThat(this.request.withHoldAtMost(Duration.ofHours(23)).holdAtMost()).hasHours(23);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.request.withHoldAtMost(LockRequest.MIN_LEASE_TIME.minusMillis(1)))
			.withMessage("'holdAtMost' must be from 10 ms to 365 days, but was PT0.009S");
		assertThatIllegalArgumentException().isThrownBy(() -> this.request.withHoldAtMost(Duration.ofDays(366)));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.request.withLeaseTime(Duration.ofSeconds(1)).withHoldAtMost(Duration.ofSeconds(2)))
			.withMessageStartingWith("'holdAtMost' is for leases that are renewed");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.request.withHoldAtMost(Duration.ofSeconds(2)).withLeaseTime(Duration.ofSeconds(1)));
	}

	@Test
	void eachChangeKeepsTheRest() {
		LockRequest all = this.request.withWaitTime(Duration.ofSeconds(1))
			.withLeaseTime(Duration.ofSeconds(2))
			.withHoldAtLeast(Duration.ofSeconds(3))
			.withMode(LockMode.FAIR)
			.withOwner("me")
			.withKey(LockKey.of("order", 7));
		assertThat(all).hasToString(
				"LockRequest[key=order:7, mode=FAIR, waitTime=PT1S, leaseTime=PT2S," + " holdAtLeast=PT3S, owner=me]");
		assertThat(LockRequest.of("order", 7)
			.withOwner("me")
			.withMode(LockMode.FAIR)
			.withHoldAtLeast(Duration.ofSeconds(3))
			.withLeaseTime(Duration.ofSeconds(2))
			.withWaitTime(Duration.ofSeconds(1))).isEqualTo(all).hasSameHashCodeAs(all);
		assertThat(this.request).hasToString("LockRequest[key=stock:1001, mode=EXCLUSIVE]");
		LockRequest limited = this.request.withHoldAtMost(Duration.ofSeconds(2));
		assertThat(limited.withWaitTime(Duration.ofSeconds(1))
			.withHoldAtLeast(Duration.ofSeconds(3))
			.withMode(LockMode.FAIR)
			.withOwner("me")
			.withKey(LockKey.of("order", 7)))
			.hasToString("LockRequest[key=order:7, mode=FAIR, waitTime=PT1S,"
					+ " holdAtLeast=PT3S, holdAtMost=PT2S, owner=me]");
	}

	@Test
	void requestsAreEqualIfTheyAskForTheSame() {
		List<UnaryOperator<LockRequest>> changes = List.of((request) -> request.withKey(LockKey.of("stock")),
				(request) -> request.withMode(LockMode.READ), (request) -> request.withWaitTime(Duration.ZERO),
				(request) -> request.withLeaseTime(Duration.ofSeconds(1)),
				(request) -> request.withHoldAtLeast(Duration.ofSeconds(1)),
				(request) -> request.withHoldAtMost(Duration.ofSeconds(1)), (request) -> request.withOwner("me"));
		assertThat(changes).allSatisfy((change) -> {
			LockRequest changed = change.apply(this.request);
			assertThat(changed).isNotEqualTo(this.request).isEqualTo(change.apply(LockRequest.of("stock", 1001)));
		});
		assertThat(this.request).isNotEqualTo("stock:1001");
	}

	@Test
	void aBodyIsNoPartOfWhatIsAskedFor() {
		LockRequest.Body body = new LockRequest.Body(OnLost.LOG, TransactionFencing.OFF, false);
		LockRequest limited = this.request.withHoldAtMost(Duration.ofHours(1));
		LockRequest forBody = limited.withHoldAtLeast(Duration.ofSeconds(3)).forBody(body);
		assertThat(forBody).isEqualTo(limited).hasSameHashCodeAs(limited).hasToString(limited.toString());
		assertThat(forBody.withWaitTime(Duration.ZERO).withOwner("work").withKey(LockKey.of("other")).body())
			.isEqualTo(body);
		assertThat(this.request.body()).isNull();
	}

	@Test
	void aSharedLockIsNotKept() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.request.withMode(LockMode.READ).withHoldAtLeast(Duration.ofSeconds(1)))
			.withMessageStartingWith("'holdAtLeast' is not possible in mode READ");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.request.withHoldAtLeast(Duration.ofSeconds(1)).withMode(LockMode.READ));
	}

	@Test
	void aNameWithoutAKeyHasASingleLock() {
		assertThat(LockRequest.of("report").key()).isEqualTo(LockKey.of("report"));
		assertThat(LockRequest.of("report").key().text()).isEqualTo("report");
		assertThat(LockRequest.of("report")).isEqualTo(LockRequest.of(LockKey.of("report")));
	}

	@Test
	void anOwnerIsAnythingButAThread() {
		LockRequest owned = this.request.withWaitTime(Duration.ofSeconds(1)).withOwner("import 7");
		assertThat(this.request.owner()).isNull();
		assertThat(owned.owner()).isEqualTo("import 7");
		assertThat(owned.withKey(LockKey.of("order", 7)).withMode(LockMode.FAIR).owner()).isEqualTo("import 7");
		assertThatIllegalArgumentException().isThrownBy(() -> this.request.withOwner(Thread.currentThread()))
			.withMessage("'owner' must not be a thread; without an owner the current thread owns the lock");
	}

}
