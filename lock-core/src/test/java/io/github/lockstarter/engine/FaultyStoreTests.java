// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.WaitingLine;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.testsupport.ManualInstances;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A store that violates its contract once, or that meets an {@link Error} such as a lack
 * of memory, does no lasting harm.
 */
class FaultyStoreTests {

	private static final Duration PATIENCE = Duration.ofSeconds(10);

	private static final LockRequest REQUEST = LockRequest.of(LockKey.of("stock", 1)).withWaitTime(PATIENCE);

	private static final List<LockRequest> BOTH = List.of(REQUEST, LockRequest.of("stock", 2));

	@RegisterExtension
	private final ManualInstances instances = new ManualInstances();

	private final ManualTime time = this.instances.time;

	private final Timetable lateAnswers = new Timetable(this.time);

	private final AtomicReference<@Nullable Fault> fault = new AtomicReference<>();

	private final DefaultLockRegistry registry = this.instances.registry(new FaultyStore());

	@BeforeEach
	void start() {
		this.lateAnswers.start();
	}

	@AfterEach
	void nothingIsLeft() {
		// What a fault leaves behind lasts for as long as a lease
		this.time.advance(EngineSettings.DEFAULTS.leaseTime().multipliedBy(2));
		assertThat(this.registry.activeLocks()).isZero();
		assertThat(this.registry.backgroundActions()).isZero();
		assertThat(this.fault).hasValue(null);
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.MATCH_NONE, names = ".*LIST")
	void aFaultyAcquisitionIsTriedAgain(Fault fault) {
		this.fault.set(fault);
		try (Lease lease = soon(this.registry.acquireAsync(REQUEST))) {
			assertThat(lease.isHeld()).isTrue();
		}
	}

	@Test
	void aFaultyAcquisitionWithoutTimeIsAnOutage() {
		this.fault.set(Fault.ERROR);
		CompletableFuture<Lease> lease = this.registry.acquireAsync(REQUEST.withWaitTime(Duration.ZERO));
		this.time.settle();
		assertThat(lease).failsWithin(Duration.ZERO)
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
		this.time.letPass(() -> this.registry.acquire(REQUEST)).close();
	}

	@ParameterizedTest
	@EnumSource
	void aFaultyRenewalIsTriedAgain(Fault fault) {
		try (Lease lease = this.registry.acquire(REQUEST); Lease other = this.registry.acquire(REQUEST)) {
			this.fault.set(fault);
			this.time.advance(EngineSettings.DEFAULTS.leaseTime().multipliedBy(2));
			assertThat(lease.isHeld()).isTrue();
			assertThat(other.isHeld()).isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.MATCH_NONE, names = ".*LIST")
	void aFaultyAcquisitionOfSeveralLocksIsTriedAgain(Fault fault) {
		this.fault.set(fault);
		this.time.letPass(() -> this.registry.acquireAll(BOTH)).close();
		this.fault.set(fault);
		soon(this.registry.acquireAllAsync(BOTH)).close();
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.MATCH_NONE, names = ".*LIST")
	void aFaultyKeepingIsTriedAgain(Fault fault) {
		Lease lease = this.registry.acquire(REQUEST);
		lease.holdAtLeast(Duration.ofSeconds(3));
		this.fault.set(fault);
		this.time.letPass(lease::close);
		this.time.letPass(() -> this.registry.acquire(REQUEST)).close();
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.MATCH_NONE, names = ".*LIST")
	void aFaultyLineIsReplacedByPolling(Fault fault) {
		LockRequest fair = REQUEST.withMode(LockMode.FAIR);
		Lease lease = soon(this.registry.acquireAsync(fair));
		CompletableFuture<Lease> next = this.registry.acquireAsync(fair);
		this.fault.set(fault);
		CompletableFuture<Lease> last = this.registry.acquireAsync(fair);
		lease.close();
		soon(next).close();
		soon(last).close();
		// Entering and withdrawing give no answer, so one without a value is right
		this.fault.set(null);
	}

	/** Return what comes before a wait time is over. */
	private <T> T soon(CompletableFuture<T> future) {
		this.time.advance(PATIENCE.dividedBy(3));
		return future.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
	}

	@Test
	void aLockThatTheStoreCannotKeepIsNotAskedForAgain() {
		AtomicInteger asked = new AtomicInteger();
		DirectStore store = new DirectStore(new MemoryLockStore()) {

			@Override
			public CompletionStage<AcquireResult> acquire(LeaseRequest request, boolean wait) {
				asked.incrementAndGet();
				throw new IllegalArgumentException("its key is too long");
			}

		};
		CompletableFuture<Lease> lease = this.instances.registry(store).acquireAsync(REQUEST);
		this.time.settle();
		assertThat(lease).failsWithin(Duration.ZERO)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(IllegalArgumentException.class)
			.withMessage("The store cannot keep lock 'stock:1': its key is too long");
		assertThat(asked).hasValue(1);
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

		};
		this.instances.registry(store).acquire(REQUEST).close();
	}

	private enum Fault {

		EXCEPTION, ERROR, NO_STAGE, NO_ANSWER, LATE_NULL, NO_LIST, SHORT_LIST

	}

	private final class FaultyStore extends DirectStore {

		FaultyStore() {
			super(new MemoryLockStore(FaultyStoreTests.this.instances.memory));
		}

		@Override
		protected <T> CompletionStage<T> ask(Request kind, Supplier<CompletionStage<T>> request) {
			Fault fault = FaultyStoreTests.this.fault.getAndSet(null);
			return (fault != null) ? answer(fault) : request.get();
		}

		@SuppressWarnings("NullAway")
		private <T> CompletionStage<T> answer(Fault fault) {
			return switch (fault) {
				case EXCEPTION -> throw new IllegalStateException("expected by the test");
				case ERROR -> throw new InternalError("expected by the test");
				case LATE_NULL -> {
					CompletableFuture<T> late = new CompletableFuture<>();
					FaultyStoreTests.this.lateAnswers.at(FaultyStoreTests.this.time.now() + 1,
							() -> late.complete(null));
					yield late;
				}
				case NO_ANSWER -> CompletableFuture.completedFuture(null);
				default -> null;
			};
		}

		@Override
		@SuppressWarnings("NullAway")
		public List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
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
		protected boolean listen(WaitingLine.Listener listener) {
			Fault fault = FaultyStoreTests.this.fault.get();
			if (fault == Fault.EXCEPTION || fault == Fault.ERROR) {
				answer(fault);
			}
			return super.listen(listener);
		}

	}

}
