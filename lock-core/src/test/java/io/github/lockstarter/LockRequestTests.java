// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

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
		assertThat(this.request.withWaitTime(Duration.ofSeconds(1)).withLeaseTime(Duration.ofSeconds(2)))
			.isEqualTo(new LockRequest(this.request.key(), LockMode.EXCLUSIVE, Duration.ofSeconds(1),
					Duration.ofSeconds(2), null, List.of()));
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
		assertThat(this.request.withLeaseTime(Duration.ofMillis(10)).leaseTime()).hasMillis(10);
		assertThat(this.request.withLeaseTime(Duration.ofDays(365)).leaseTime()).hasDays(365);
		assertThatIllegalArgumentException().isThrownBy(() -> this.request.withLeaseTime(Duration.ofMillis(9)))
			.withMessage("'leaseTime' must be from 10 ms to 365 days, but was PT0.009S");
		assertThatIllegalArgumentException().isThrownBy(() -> this.request.withLeaseTime(Duration.ofDays(366)));
	}

	@Test
	void aTimeToHoldAtLeastHasTheSameBounds() {
		assertThat(this.request.withHoldAtLeast(Duration.ofHours(23)).holdAtLeast()).hasHours(23);
		assertThatIllegalArgumentException().isThrownBy(() -> this.request.withHoldAtLeast(Duration.ofMillis(9)))
			.withMessage("'holdAtLeast' must be from 10 ms to 365 days, but was PT0.009S");
		assertThatIllegalArgumentException().isThrownBy(() -> this.request.withHoldAtLeast(Duration.ofDays(366)));
	}

	@Test
	void anotherKeyKeepsTheTimes() {
		LockRequest timed = this.request.withWaitTime(Duration.ofSeconds(1))
			.withLeaseTime(Duration.ofSeconds(2))
			.withHoldAtLeast(Duration.ofSeconds(3));
		assertThat(timed.withKey(LockKey.of("order", 7))).isEqualTo(new LockRequest(LockKey.of("order", 7),
				LockMode.EXCLUSIVE, Duration.ofSeconds(1), Duration.ofSeconds(2), Duration.ofSeconds(3), List.of()));
	}

	@Test
	void severalLocksAreOneRequest() {
		LockRequest all = LockRequest.ofAll("order", List.of(1, 2))
			.and(this.request)
			.withWaitTime(Duration.ofSeconds(7));
		assertThat(all.all()).extracting(LockRequest::key)
			.containsExactly(LockKey.of("order", 1), LockKey.of("order", 2), this.request.key());
		assertThat(all.waitTime()).hasSeconds(7);
		assertThat(all.all()).allSatisfy((each) -> assertThat(each.others()).isEmpty());
		assertThat(this.request.all()).containsExactly(this.request);
		assertThat(all.and(all).all()).hasSize(6);
	}

	@Test
	void severalLocksAreAtLeastOneAndAtMostAThousand() {
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.ofAll("order", List.of()))
			.withMessage("'keys' of the locks 'order' must not be empty");
		LockRequest most = LockRequest.ofAll("order", IntStream.range(0, 1000).boxed().toList());
		assertThat(most.all()).hasSize(1000);
		assertThat(most.and(most).all()).hasSize(2000);
		assertThatIllegalArgumentException().isThrownBy(() -> most.and(this.request))
			.withMessage("At most 1000 locks can be taken together, but these are 1001");
	}

}
