// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import java.util.function.UnaryOperator;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Bodies under several locks, or on behalf of an owner.
 */
class LockTemplateSetTests extends AbstractBodyTests {

	private static final LockRequest FIRST = LockRequest.of("account", 1);

	private static final LockRequest SECOND = LockRequest.of("account", 2);

	private static final LockRequest LAST = LockRequest.of("supplier", 1);

	private static final List<LockRequest> BOTH = List.of(SECOND, FIRST);

	/** The set that is requested has another lock beside the one that matters. */
	@Override
	String run(LockTemplate template, LockRequest request, LockedBody<LeaseSet, String, Throwable> body,
			LockFailureHandler<String, Throwable> otherwise) throws Throwable {
		return template.executeChecked(List.of(LAST, request), body, otherwise);
	}

	private static List<LockRequest> each(UnaryOperator<LockRequest> change) {
		return BOTH.stream().map(change).toList();
	}

	@Test
	void theBodyRunsUnderAllLocks() {
		List<LockKey> keys = this.template.execute(BOTH, (leases) -> {
			assertThat(isTaken(FIRST)).isTrue();
			assertThat(isTaken(SECOND)).isTrue();
			assertThat(leases).isSameAs(LeaseSet.current());
			leases.ensureHeld();
			return leases.all().stream().map(Lease::key).toList();
		});
		assertThat(keys).containsExactly(FIRST.key(), SECOND.key());
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void aSetIsNoSingleLeaseButASingleLeaseIsASet() {
		this.template.executeWithoutResult(List.of(FIRST),
				(leases) -> assertThatIllegalStateException().isThrownBy(Lease::current)
					.withMessageContaining("use LeaseSet.current()"));
		this.template.executeWithoutResult(FIRST, (lease) -> {
			assertThat(lease).isSameAs(LeaseSet.current()).isSameAs(Lease.current());
			assertThat(lease.get(FIRST.key())).isSameAs(lease);
			this.template.executeWithoutResult(BOTH, (leases) -> assertThat(leases).isSameAs(LeaseSet.current()));
			assertThat(Lease.current()).isSameAs(lease);
		});
		assertThatIllegalStateException().isThrownBy(LeaseSet::current).withMessageContaining("no current lease");
	}

	@Test
	void contentionOfOneLockIsContentionOfTheSet() {
		try (Lease held = this.other.acquire(SECOND)) {
			Function<LockException, String> onContention = (failure) -> {
				assertThat(failure.getKey()).isEqualTo(SECOND.key());
				assertThat(failure).isInstanceOfSatisfying(LockContendedException.class,
						(contention) -> assertThat(contention.getWaited()).isEqualTo(Duration.ofSeconds(3)));
				assertThat(isTaken(FIRST)).isFalse();
				return "handler";
			};
			String result = this.time.letPass(() -> this.template.executeOrElse(
					each((request) -> request.withWaitTime(Duration.ofSeconds(3))), (leases) -> "body", onContention));
			assertThat(result).isEqualTo("handler");
		}
	}

	@Test
	void theLossOfOneLockIsThatOfTheSet() {
		List<LockRequest> request = List.of(FIRST, SECOND.withLeaseTime(LEASE_TIME));
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.executeWithoutResult(request, (leases) -> {
				this.time.advance(LEASE_TIME);
				assertThat(leases.isHeld()).isFalse();
			}))
			.satisfies((loss) -> assertThat(loss.getKey()).isEqualTo(SECOND.key()));
	}

	@Test
	void aSetDoesNotAcquireALockAnewThatAnOuterBodyHasLost() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.executeWithoutResult(FIRST.withLeaseTime(LEASE_TIME), (lease) -> {
				this.time.advance(LEASE_TIME);
				this.template.executeWithoutResult(BOTH, (leases) -> {
					throw new AssertionError("It should not have run");
				});
			}));
	}

	@Test
	void onlyTheLocksThatAreHeldAtLeastForSomeTimeAreKeptAndOnlyAfterASuccess() {
		List<LockRequest> kept = List.of(FIRST.withHoldAtLeast(Duration.ofMinutes(1)), SECOND);
		assertThatIllegalStateException().isThrownBy(() -> this.template.executeWithoutResult(kept, (leases) -> {
			throw new IllegalStateException("expected by the test");
		}));
		assertThat(isTaken(FIRST)).isFalse();
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> result = this.template.executeAsync(kept, (leases) -> work);
		work.complete("done");
		assertThat(result).succeedsWithin(PATIENCE);
		assertThat(isTaken(FIRST)).isTrue();
		assertThat(isTaken(SECOND)).isFalse();
	}

	@Test
	void theLocksOfAFutureAreHeldUntilItIsDone() throws Exception {
		CompletableFuture<String> work = new CompletableFuture<>();
		CountDownLatch begun = new CountDownLatch(1);
		CompletableFuture<String> result = this.template.executeAsync(BOTH, (leases) -> {
			assertThat(leases).isSameAs(LeaseSet.current());
			begun.countDown();
			return work;
		});
		begun.await();
		assertThat(isTaken(FIRST)).isTrue();
		assertThat(isTaken(SECOND)).isTrue();
		work.complete("done");
		assertThat(result).succeedsWithin(PATIENCE).isEqualTo("done");
		assertThat(isTaken(FIRST)).isFalse();
		assertThat(isTaken(SECOND)).isFalse();
	}

	@Test
	void aBodyOnBehalfOfAnOwnerIsReentrantForItOnAnyThread() {
		LockRequest mine = FIRST.withOwner("me").withWaitTime(Duration.ZERO);
		CompletableFuture<String> result = this.template.executeAsync(mine,
				(outer) -> this.template.executeAsync(mine, (inner) -> {
					assertThat(inner.fencingToken()).isEqualTo(outer.fencingToken());
					return this.template.executeAsync(each((request) -> request.withOwner("me")),
							(leases) -> CompletableFuture.completedFuture("done"));
				}));
		assertThat(result).succeedsWithin(PATIENCE).isEqualTo("done");
		this.template.executeWithoutResult(mine,
				(lease) -> assertThat(this.registry.tryAcquire(FIRST.withWaitTime(Duration.ZERO))).isEmpty());
	}

}
