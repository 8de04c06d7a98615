// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineProbe;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Bodies under several locks, or on behalf of an owner.
 */
class LockTemplateSetTests {

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	private static final LockRequest FIRST = LockRequest.of("account", 1);

	private static final LockRequest SECOND = LockRequest.of("account", 2);

	private static final LockSetRequest BOTH = LockSetRequest.of(SECOND, FIRST);

	private final LockMemory memory = new LockMemory();

	private final DefaultLockRegistry registry = new DefaultLockRegistry(new MemoryLockStore(this.memory),
			EngineSettings.DEFAULTS, LockListener.NO_OP);

	private final DefaultLockRegistry other = new DefaultLockRegistry(new MemoryLockStore(this.memory),
			EngineSettings.DEFAULTS, LockListener.NO_OP);

	private final LockTemplate template = new LockTemplate(this.registry);

	@AfterEach
	void nothingIsLeft() {
		EngineProbe.closeWhenIdle(this.registry, this.other);
		assertThat(LeaseContext.size()).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void theBodyRunsUnderAllLocks(OnLost onLost) {
		List<LockKey> keys = this.template.withOnLost(onLost).execute(BOTH, (leases) -> {
			assertThat(isHeld(FIRST)).isTrue();
			assertThat(isHeld(SECOND)).isTrue();
			assertThat(leases).isSameAs(LeaseSet.current());
			leases.ensureHeld();
			return leases.all().stream().map(Lease::key).toList();
		});
		assertThat(keys).containsExactly(FIRST.key(), SECOND.key());
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void aSetIsNoSingleLeaseButASingleLeaseIsASet() {
		this.template.executeWithoutResult(LockSetRequest.of(FIRST),
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
	void aBodyWithoutAResultThrowsWhatItLikes() {
		IOException expected = new IOException("expected by the test");
		assertThatExceptionOfType(IOException.class)
			.isThrownBy(() -> this.template.executeWithoutResult(FIRST, (lease) -> {
				throw expected;
			}))
			.isSameAs(expected);
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void contentionOfOneLockIsContentionOfTheSet() {
		try (Lease held = this.other.acquire(SECOND)) {
			String result = this.template.executeOrElse(BOTH.withWaitTime(Duration.ofMillis(20)), (leases) -> "body",
					(contention) -> {
						assertThat(contention.getKey()).isEqualTo(SECOND.key());
						assertThat(contention.getWaited()).isGreaterThanOrEqualTo(Duration.ofMillis(20));
						assertThat(isHeld(FIRST)).isFalse();
						return "handler";
					});
			assertThat(result).isEqualTo("handler");
		}
	}

	@ParameterizedTest
	@EnumSource
	void theLossOfOneLockIsReportedAsTheTemplateRequires(OnLost onLost) {
		LockSetRequest request = LockSetRequest.of(FIRST, SECOND.withLeaseTime(Duration.ofMillis(250)));
		LockTemplate template = this.template.withOnLost(onLost);
		LockedBody<LeaseSet, String, RuntimeException> body = (leases) -> {
			CountDownLatch lost = new CountDownLatch(1);
			leases.onLost((loss) -> lost.countDown());
			Awaitility.await().until(() -> lost.getCount() == 0 || Thread.currentThread().isInterrupted());
			assertThat(leases.isHeld()).isFalse();
			return "done";
		};
		if (onLost == OnLost.LOG) {
			assertThat(template.<LeaseSet, String, RuntimeException>execute(request, body)).isEqualTo("done");
		}
		else {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> template.execute(request, body))
				.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo(SECOND.key()));
		}
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void aSetDoesNotAcquireALockAnewThatAnOuterBodyHasLost() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(
				() -> this.template.executeWithoutResult(FIRST.withLeaseTime(Duration.ofMillis(250)), (lease) -> {
					Awaitility.await().until(() -> !lease.isHeld());
					this.template.executeWithoutResult(BOTH, (leases) -> {
						throw new AssertionError("It should not have run");
					});
				}));
	}

	@Test
	void onlyTheLocksThatAreHeldAtLeastForSomeTimeAreKeptAndOnlyAfterASuccess() {
		LockSetRequest kept = LockSetRequest.of(FIRST.withHoldAtLeast(Duration.ofHours(1)), SECOND);
		assertThatIllegalStateException().isThrownBy(() -> this.template.executeWithoutResult(kept, (leases) -> {
			throw new IllegalStateException("expected by the test");
		}));
		assertThat(isHeld(FIRST)).isFalse();
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> result = this.template.executeAsync(kept, (leases) -> work);
		work.complete("done");
		assertThat(result).succeedsWithin(PATIENCE);
		assertThat(isHeld(FIRST)).isTrue();
		assertThat(isHeld(SECOND)).isFalse();
		this.memory.clear();
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
		assertThat(isHeld(FIRST)).isTrue();
		assertThat(isHeld(SECOND)).isTrue();
		work.complete("done");
		assertThat(result).succeedsWithin(PATIENCE).isEqualTo("done");
		assertThat(isHeld(FIRST)).isFalse();
		assertThat(isHeld(SECOND)).isFalse();
	}

	@Test
	void aBodyThatIsBegunHereOwnsItsLocksItselfUnlessTheRequestHasAnOwner() {
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> result = begin(BOTH, work);
		assertThat(this.registry.tryAcquire(FIRST.withWaitTime(Duration.ZERO))).isEmpty();
		assertThat(begin(BOTH.withWaitTime(Duration.ZERO), work)).isCompletedWithValue("busy");
		work.complete("done");
		assertThat(result).succeedsWithin(PATIENCE);
		CompletableFuture<String> ownedWork = new CompletableFuture<>();
		CompletableFuture<String> owned = begin(BOTH.withOwner("me"), ownedWork);
		this.registry.acquire(SECOND.withOwner("me")).close();
		ownedWork.complete("done");
		assertThat(owned).succeedsWithin(PATIENCE);
	}

	@Test
	void aBodyOnBehalfOfAnOwnerIsReentrantForItOnAnyThread() {
		LockRequest mine = FIRST.withOwner("me").withWaitTime(Duration.ZERO);
		CompletableFuture<String> result = this.template.executeAsync(mine,
				(outer) -> this.template.executeAsync(mine, (inner) -> {
					assertThat(inner.fencingToken()).isEqualTo(outer.fencingToken());
					return this.template.executeAsync(BOTH.withOwner("me"),
							(leases) -> CompletableFuture.completedFuture("done"));
				}));
		assertThat(result).succeedsWithin(PATIENCE).isEqualTo("done");
		this.template.executeWithoutResult(mine,
				(lease) -> assertThat(this.registry.tryAcquire(FIRST.withWaitTime(Duration.ZERO))).isEmpty());
	}

	private CompletableFuture<String> begin(LockSetRequest request, CompletableFuture<String> work) {
		return this.template.beginOrElse(request, (leases) -> work,
				(contention) -> CompletableFuture.completedFuture("busy"), (outage) -> {
					throw outage;
				});
	}

	private boolean isHeld(LockRequest request) {
		return this.other.tryAcquire(request.withWaitTime(Duration.ZERO)).map((lease) -> {
			lease.close();
			return false;
		}).orElse(true);
	}

}
