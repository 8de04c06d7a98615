// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSetRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.GroupGrant;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.LockKeeping;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.Place;
import io.github.lockstarter.store.ReleaseListener;
import io.github.lockstarter.store.ReleaseOutcome;
import io.github.lockstarter.store.StoreServers;
import io.github.lockstarter.store.WaitingLine;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A store that violates its contract once, or that meets an {@link Error} such as a lack
 * of memory, does no lasting harm.
 */
@Tag("clock")
class FaultyStoreTests {

	private static final Duration PATIENCE = Duration.ofSeconds(10);

	/** A renewal extends a lease by more than that. */
	private static final long EXTENSION = TimeUnit.MILLISECONDS.toNanos(200);

	private static final LockRequest REQUEST = LockRequest.of(LockKey.of("stock", 1)).withWaitTime(PATIENCE);

	private final AtomicReference<@Nullable Fault> fault = new AtomicReference<>();

	private final AtomicInteger renewals = new AtomicInteger();

	/** What a fault leaves behind lasts for as long as a lease. */
	private final DefaultLockRegistry registry = registry(Duration.ofMillis(600), 3);

	@AfterEach
	void nothingIsLeft() {
		Awaitility.await().until(() -> this.registry.activeLocks() == 0 && this.registry.backgroundActions() == 0);
		assertThat(this.fault).hasValue(null);
		this.registry.close();
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.MATCH_NONE, names = ".*LIST")
	void aFaultyAcquisitionIsTriedAgain(Fault fault) {
		this.fault.set(fault);
		try (Lease lease = this.registry.acquireAsync(REQUEST).orTimeout(10, TimeUnit.SECONDS).join()) {
			assertThat(lease.isHeld()).isTrue();
		}
	}

	@Test
	void aFaultyAcquisitionWithoutTimeIsAnOutage() {
		this.fault.set(Fault.ERROR);
		assertThat(this.registry.acquireAsync(REQUEST.withWaitTime(Duration.ZERO))).failsWithin(PATIENCE)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockUnavailableException.class)
			.withRootCauseInstanceOf(InternalError.class);
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.MATCH_NONE, names = ".*LIST")
	void aFaultyReleaseIsTriedAgain(Fault fault) {
		Lease lease = this.registry.acquire(REQUEST);
		this.fault.set(fault);
		lease.close();
		this.registry.acquire(REQUEST).close();
	}

	@ParameterizedTest
	@EnumSource
	void aFaultyRenewalIsTriedAgain(Fault fault) {
		// The lease outlasts a standstill, and is renewed as often as a shorter one
		DefaultLockRegistry renewing = registry(Duration.ofSeconds(6), 20);
		try (Lease lease = renewing.acquire(REQUEST); Lease other = renewing.acquire(REQUEST)) {
			long end = endOf(lease);
			this.fault.set(fault);
			Awaitility.await().until(() -> this.renewals.get() >= 3 && endOf(lease) - end > EXTENSION);
			assertThat(lease.isHeld()).isTrue();
			assertThat(other.isHeld()).isTrue();
		}
		EngineProbe.closeWhenIdle(renewing);
	}

	private static long endOf(Lease lease) {
		return System.nanoTime() + lease.remaining().toNanos();
	}

	@ParameterizedTest
	@EnumSource
	void afterAFaultyGroupGrantTheLocksAreAcquiredOneByOne(Fault fault) {
		this.fault.set(fault);
		this.registry.acquireAll(LockSetRequest.of("stock", List.of(1, 2))).close();
		this.fault.set(fault);
		assertThat(this.registry.acquireAllAsync(LockSetRequest.of("stock", List.of(1, 2)))).succeedsWithin(PATIENCE)
			.satisfies((leases) -> leases.close());
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.MATCH_NONE, names = ".*LIST")
	void aFaultyKeepingIsTriedAgain(Fault fault) {
		Lease lease = this.registry.acquire(REQUEST);
		lease.holdAtLeast(Duration.ofMillis(500));
		this.fault.set(fault);
		lease.close();
		this.registry.acquire(REQUEST).close();
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.MATCH_NONE, names = ".*LIST")
	void aFaultyLineIsReplacedByPolling(Fault fault) {
		LockRequest fair = REQUEST.withMode(LockMode.FAIR);
		Lease lease = this.registry.acquireAsync(fair).join();
		CompletableFuture<Lease> next = this.registry.acquireAsync(fair);
		this.fault.set(fault);
		CompletableFuture<Lease> last = this.registry.acquireAsync(fair);
		lease.close();
		next.orTimeout(10, TimeUnit.SECONDS).join().close();
		last.orTimeout(10, TimeUnit.SECONDS).join().close();
		// Entering and withdrawing give no answer, so one without a value is right
		this.fault.set(null);
	}

	@Test
	void aGroupGrantThatCannotTellWhatIsPossibleIsNotUsed() {
		DirectStore store = new DirectStore(new MemoryLockStore()) {

			@Override
			public Optional<GroupGrant> groupGrant() {
				return Optional.of(new UndecidedGroupGrant());
			}

		};
		try (DefaultLockRegistry registry = new DefaultLockRegistry(store)) {
			registry.acquireAll(LockSetRequest.of("stock", List.of(1, 2))).close();
		}
	}

	@Test
	void whatAStoreCanDoIsAskedBeforeThereIsALock() {
		AtomicInteger asked = new AtomicInteger();
		DirectStore store = new DirectStore(new MemoryLockStore()) {

			@Override
			public boolean mayBlock() {
				assertThat(asked.incrementAndGet()).isOne();
				return super.mayBlock();
			}

			@Override
			public StoreServers servers() {
				assertThat(asked).hasValue(1);
				return super.servers();
			}

		};
		try (DefaultLockRegistry registry = new DefaultLockRegistry(store)) {
			registry.acquire(REQUEST).close();
		}
	}

	private DefaultLockRegistry registry(Duration leaseTime, int renewalsPerLease) {
		return new DefaultLockRegistry(new FaultyStore(), new EngineSettings(PATIENCE, leaseTime, renewalsPerLease,
				Duration.ofSeconds(1), Duration.ofMillis(100), Duration.ofMillis(50), Duration.ofMillis(100)),
				LockListener.NO_OP);
	}

	private static final class UndecidedGroupGrant implements GroupGrant {

		@Override
		public boolean isPossibleFor(Collection<LockKey> keys) {
			throw new IllegalStateException("expected by the test");
		}

		@Override
		public CompletionStage<List<LockGrant>> acquire(List<LeaseRequest> requests) {
			throw new AssertionError("Nobody knows whether that is possible");
		}

	}

	private enum Fault {

		EXCEPTION, ERROR, NO_STAGE, NO_ANSWER, LATE_NULL, NO_LIST, SHORT_LIST

	}

	private final class FaultyStore extends DirectStore {

		FaultyStore() {
			super(new MemoryLockStore());
		}

		private <T> CompletionStage<T> answer(Supplier<CompletionStage<T>> request) {
			Fault fault = FaultyStoreTests.this.fault.getAndSet(null);
			return (fault != null) ? answer(fault) : request.get();
		}

		@SuppressWarnings("NullAway")
		private <T> CompletionStage<T> answer(Fault fault) {
			return switch (fault) {
				case EXCEPTION -> throw new IllegalStateException("expected by the test");
				case ERROR -> throw new InternalError("expected by the test");
				case LATE_NULL -> new CompletableFuture<T>().completeOnTimeout(null, 20, TimeUnit.MILLISECONDS);
				case NO_ANSWER -> CompletableFuture.completedFuture(null);
				default -> null;
			};
		}

		@Override
		public CompletionStage<LockAttempt> acquire(LeaseRequest request, Place place) {
			return answer(() -> super.acquire(request, place));
		}

		@Override
		@SuppressWarnings("NullAway")
		public List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
			FaultyStoreTests.this.renewals.incrementAndGet();
			Fault fault = FaultyStoreTests.this.fault.getAndSet(null);
			if (fault == null) {
				return super.renew(requests);
			}
			if (fault == Fault.NO_LIST) {
				return null;
			}
			return (fault == Fault.SHORT_LIST) ? List.of() : Collections.nCopies(requests.size(), answer(fault));
		}

		@Override
		public CompletionStage<ReleaseOutcome> release(LockKey key, OwnerToken owner, Place next) {
			return answer(() -> super.release(key, owner, next));
		}

		@Override
		public Optional<LockKeeping> keeping() {
			return super.keeping().map((keeping) -> (key, owner, time) -> answer(() -> keeping.keep(key, owner, time)));
		}

		@Override
		public Optional<GroupGrant> groupGrant() {
			return super.groupGrant().map(FaultyGroupGrant::new);
		}

		@Override
		public WaitingLine waitingLine() {
			return new FaultyLine(super.waitingLine());
		}

		private final class FaultyGroupGrant implements GroupGrant {

			private final GroupGrant delegate;

			FaultyGroupGrant(GroupGrant delegate) {
				this.delegate = delegate;
			}

			@Override
			public boolean isPossibleFor(Collection<LockKey> keys) {
				return this.delegate.isPossibleFor(keys);
			}

			@Override
			public CompletionStage<List<LockGrant>> acquire(List<LeaseRequest> requests) {
				if (FaultyStoreTests.this.fault.compareAndSet(Fault.SHORT_LIST, null)) {
					return this.delegate.acquire(requests).thenApply((grants) -> grants.subList(1, grants.size()));
				}
				return answer(() -> this.delegate.acquire(requests));
			}

		}

		private final class FaultyLine implements WaitingLine {

			private final WaitingLine delegate;

			FaultyLine(WaitingLine delegate) {
				this.delegate = delegate;
			}

			@Override
			public boolean listen(ReleaseListener listener) {
				Fault fault = FaultyStoreTests.this.fault.get();
				if (fault == Fault.EXCEPTION || fault == Fault.ERROR) {
					answer(fault);
				}
				return this.delegate.listen(listener);
			}

			@Override
			public CompletionStage<Void> enter(LockKey key, OwnerToken owner) {
				return answer(() -> this.delegate.enter(key, owner));
			}

			@Override
			public CompletionStage<Void> withdraw(LockKey key) {
				return answer(() -> this.delegate.withdraw(key));
			}

			@Override
			public CompletionStage<Void> withdraw(LockKey key, OwnerToken owner) {
				return answer(() -> this.delegate.withdraw(key, owner));
			}

			@Override
			public CompletionStage<Boolean> isAwaited(LockKey key) {
				return answer(() -> this.delegate.isAwaited(key));
			}

		}

	}

}
