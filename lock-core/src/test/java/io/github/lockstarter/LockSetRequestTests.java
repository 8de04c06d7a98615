// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LockSetRequestTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private final LockRequest request = LockRequest.of("stock", 1001);

	@Test
	void theOrderOfLocksIsThatOfTheirNamesAndKeys() {
		LockSetRequest set = LockSetRequest.of(LockRequest.of("b", 1), LockRequest.of("a", 2), LockRequest.of("a", 10),
				LockRequest.of("c"), LockRequest.of("a", 2));
		assertThat(set.requests()).extracting((request) -> request.key().text())
			.containsExactly("a:10", "a:2", "b:1", "c");
	}

	@Test
	void allLocksHaveTheDefaultsUnlessSet() {
		LockSetRequest set = LockSetRequest.of("stock", List.of(1, 2));
		assertThat(set).isEqualTo(LockSetRequest.of(LockRequest.of("stock", 2), LockRequest.of("stock", 1)));
		assertThat(set.waitTime()).isNull();
		LockSetRequest changed = set.withWaitTime(SECOND)
			.withMode(LockMode.WRITE)
			.withLeaseTime(Duration.ofSeconds(2))
			.withHoldAtLeast(Duration.ofSeconds(3))
			.withOwner("me");
		assertThat(changed.waitTime()).isEqualTo(SECOND);
		assertThat(changed.requests()).hasSize(2).allSatisfy((each) -> {
			assertThat(each.waitTime()).isNull();
			assertThat(each.mode()).isEqualTo(LockMode.WRITE);
			assertThat(each.leaseTime()).hasSeconds(2);
			assertThat(each.holdAtLeast()).hasSeconds(3);
			assertThat(each.owner()).isEqualTo("me");
		});
	}

	@Test
	void thereIsOneWaitTimeForAllLocks() {
		LockRequest waiting = this.request.withWaitTime(SECOND);
		LockRequest other = LockRequest.of("stock", 1002);
		assertThat(LockSetRequest.of(other, waiting).waitTime()).isEqualTo(SECOND);
		assertThat(LockSetRequest.of(other.withWaitTime(SECOND), waiting).waitTime()).isEqualTo(SECOND);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> LockSetRequest.of(waiting, other.withWaitTime(Duration.ZERO)))
			.withMessage("There is one wait time for all locks of a set, but that of lock 'stock:1002' is PT0S and"
					+ " another one is PT1S");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> LockSetRequest.of(this.request).withWaitTime(Duration.ofNanos(-1)))
			.withMessage("'waitTime' must not be negative, but was PT-0.000000001S");
		assertThat(LockSetRequest.of(waiting).withWaitTime(Duration.ofDays(200_000)).waitTime())
			.isEqualTo(LockRequest.FOREVER);
	}

	@Test
	void aLockThatIsRequestedTwiceIsAcquiredInTheStrongerModeAndKeptForTheLongerTime() {
		LockRequest read = this.request.withMode(LockMode.READ);
		LockRequest fair = this.request.withMode(LockMode.FAIR).withLeaseTime(SECOND);
		LockRequest kept = this.request.withHoldAtLeast(SECOND);
		LockRequest longer = this.request.withHoldAtLeast(Duration.ofSeconds(2));
		assertThat(LockSetRequest.of(read, this.request).requests()).containsExactly(this.request);
		assertThat(LockSetRequest.of(this.request, read).requests()).containsExactly(this.request);
		assertThat(LockSetRequest.of(read, fair, this.request).requests()).containsExactly(fair);
		assertThat(LockSetRequest.of(kept, this.request, longer).requests()).containsExactly(longer);
		assertThat(LockSetRequest.of(fair, kept, read).requests()).containsExactly(fair.withHoldAtLeast(SECOND));
	}

	@Test
	void aLockHasOneOwner() {
		LockRequest mine = this.request.withOwner("me");
		assertThat(LockSetRequest.of(mine, mine).requests()).containsExactly(mine);
		assertThat(LockSetRequest.of(mine, LockRequest.of("stock", 1002).withOwner("you")).requests()).hasSize(2);
		assertThatIllegalArgumentException().isThrownBy(() -> LockSetRequest.of(mine, this.request.withOwner("you")))
			.withMessage("Lock 'stock:1001' cannot be acquired on behalf of two owners together");
	}

	@Test
	void thereAreAtLeastOneAndAtMostAThousandLocks() {
		assertThatIllegalArgumentException().isThrownBy(() -> LockSetRequest.of("order", List.of()))
			.withMessage("'keys' of the locks 'order' must not be empty");
		assertThatIllegalArgumentException().isThrownBy(LockSetRequest::of)
			.withMessage("A set of locks must not be empty");
		List<LockRequest> most = LockSetRequest.of("order", IntStream.range(0, 1000).boxed().toList()).requests();
		List<LockRequest> twice = IntStream.range(0, 2000).mapToObj((i) -> most.get(i % 1000)).toList();
		assertThat(LockSetRequest.of(twice).requests()).isEqualTo(most);
		List<Integer> tooMany = IntStream.range(0, 1001).boxed().toList();
		assertThatIllegalArgumentException().isThrownBy(() -> LockSetRequest.of("order", tooMany))
			.withMessage("At most 1000 locks can be acquired together, but these are 1001");
	}

}
