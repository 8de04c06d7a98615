// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

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
import io.github.lockstarter.test.FaultInjectingStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Bodies that neither block nor return a future.
 */
class LockOutcomeTests {

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private static final LockRequest AT_ONCE = REQUEST.withWaitTime(Duration.ZERO);

	private static final LockRequest SHORT = REQUEST.withLeaseTime(Duration.ofMillis(500));

	private final LockMemory memory = new LockMemory();

	private final FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(this.memory));

	private final DefaultLockRegistry registry = new DefaultLockRegistry(this.store, EngineSettings.DEFAULTS,
			LockListener.NO_OP);

	private final DefaultLockRegistry other = new DefaultLockRegistry(new MemoryLockStore(this.memory),
			EngineSettings.DEFAULTS, LockListener.NO_OP);

	private final LockTemplate template = new LockTemplate(this.registry);

	@AfterEach
	void nothingIsLeft() {
		EngineProbe.closeWhenIdle(this.registry, this.other);
	}

	@Test
	void theBodyRunsUnderTheLockUntilTheOutcomeIsEnded() {
		LockOutcome<Lease> outcome = outcome(this.template, REQUEST);
		assertThat(fold(outcome)).isEqualTo("body");
		assertThat(isTaken()).isTrue();
		assertThat(outcome.end(null)).succeedsWithin(PATIENCE);
		assertThat(isTaken()).isFalse();
	}

	@Test
	void afterTheEndNothingRunsAndNothingIsReleasedAgain() {
		LockOutcome<Lease> outcome = outcome(this.template, REQUEST);
		assertThat(outcome.end(null)).succeedsWithin(PATIENCE);
		try (Lease next = this.registry.acquire(REQUEST)) {
			assertThatExceptionOfType(CancellationException.class).isThrownBy(() -> fold(outcome));
			assertThat(outcome.end(null)).succeedsWithin(PATIENCE);
			assertThat(next.isHeld()).isTrue();
			assertThat(isTaken()).isTrue();
		}
	}

	@Test
	void withoutTheLockAHandlerRuns() {
		try (Lease held = this.other.acquire(REQUEST)) {
			LockOutcome<Lease> contended = outcome(this.template, AT_ONCE);
			assertThat(fold(contended)).isEqualTo("contention");
			assertThat(contended.end(null)).succeedsWithin(PATIENCE);
		}
		this.store.acquire.loseRequests(() -> true);
		LockOutcome<Lease> unavailable = outcome(this.template, SHORT.withWaitTime(Duration.ZERO));
		assertThat(fold(unavailable)).isEqualTo("outage");
		IllegalStateException failure = new IllegalStateException("of the handler");
		assertThat(unavailable.end(failure)).failsWithin(PATIENCE).withThrowableThat().withCause(failure);
	}

	@Test
	void anyOtherReasonIsThrown() {
		this.registry.close();
		LockOutcome<Lease> outcome = outcome(this.template, AT_ONCE);
		assertThat(fold(outcome)).isEqualTo("outage");
		LockOutcome<Lease> lost = LockOutcome.of(() -> {
			throw new LockInterruptedException(REQUEST.key());
		}, BodyTerms.of(REQUEST, OnLost.THROW, TransactionFencing.DEFAULT));
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(() -> fold(lost));
	}

	@Test
	void aLossIsTheFailureOfTheEndUnlessItIsOnlyLogged() {
		LockOutcome<Lease> outcome = outcome(this.template, REQUEST);
		this.memory.clear();
		assertThat(outcome.end(null)).failsWithin(PATIENCE)
			.withThrowableThat()
			.withCauseInstanceOf(LockLostException.class);
		LockOutcome<Lease> tolerant = outcome(this.template.withOnLost(OnLost.LOG), REQUEST);
		this.memory.clear();
		assertThat(tolerant.end(null)).succeedsWithin(PATIENCE);
	}

	@ParameterizedTest
	@EnumSource(value = OnLost.class, names = { "THROW", "INTERRUPT" })
	void aLossThatTheBodyHasThrownIsNotRepeated(OnLost onLost) {
		CountDownLatch noticed = new CountDownLatch(1);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.withOnLost(onLost).execute(SHORT, (lease) -> {
				lease.onLost((loss) -> noticed.countDown());
				try {
					assertThat(noticed.await(20, TimeUnit.SECONDS)).isTrue();
				}
				catch (InterruptedException ex) {
					assertThat(onLost).isEqualTo(OnLost.INTERRUPT);
				}
				throw new LockLostException(lease.key(), lease.fencingToken(), "at the commit");
			}))
			.withMessageContaining("at the commit")
			.satisfies((loss) -> assertThat(loss.getSuppressed()).isEmpty());
	}

	@Test
	void theLossOfAnotherLeaseIsSuppressed() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.template.execute(REQUEST, (lease) -> {
			this.memory.clear();
			throw new LockLostException(lease.key(), lease.fencingToken() - 1, "before");
		}))
			.withMessageContaining("before")
			.satisfies((loss) -> assertThat(loss.getSuppressed()).hasExactlyElementsOfTypes(LockLostException.class));
	}

	@Test
	void noBodyBeginsUnderALockThatWasLostBefore() throws InterruptedException {
		LockOutcome<Lease> outcome = outcome(this.template.withOnLost(OnLost.INTERRUPT), SHORT);
		CountDownLatch lost = new CountDownLatch(1);
		outcome.onLoss(lost::countDown);
		assertThat(lost.await(20, TimeUnit.SECONDS)).isTrue();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> fold(outcome));
		assertThat(outcome.end(null)).failsWithin(PATIENCE)
			.withThrowableThat()
			.withCauseInstanceOf(LockLostException.class);
	}

	@Test
	void theFailureOfABodyThatTheLossHasCancelledIsSuppressed() throws InterruptedException {
		LockOutcome<Lease> outcome = outcome(this.template.withOnLost(OnLost.INTERRUPT), SHORT);
		CountDownLatch cancelled = new CountDownLatch(1);
		outcome.onLoss(cancelled::countDown);
		assertThat(cancelled.await(20, TimeUnit.SECONDS)).isTrue();
		CancellationException failure = new CancellationException();
		assertThat(outcome.end(failure)).failsWithin(PATIENCE)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockLostException.class)
			.withStackTraceContaining("Suppressed: " + CancellationException.class.getName());
	}

	@Test
	void byDefaultALossDoesNotCancelTheBody() {
		LockOutcome<Lease> outcome = outcome(this.template, SHORT);
		CountDownLatch noticed = new CountDownLatch(1);
		outcome.onLoss(() -> {
			throw new AssertionError("It should not have run");
		});
		outcome.<Object, RuntimeException>fold((lease) -> {
			lease.onLost((loss) -> noticed.countDown());
			return "";
		}, (contention) -> "", (outage) -> "");
		Awaitility.await().until(() -> noticed.getCount() == 0);
		IllegalStateException failure = new IllegalStateException("of the body");
		assertThat(outcome.end(failure)).failsWithin(PATIENCE).withThrowableThat().withCause(failure);
		assertThat(failure.getSuppressed()).hasExactlyElementsOfTypes(LockLostException.class);
	}

	@Test
	void cancellingTheFutureWithdrawsFromTheWait() {
		try (Lease held = this.registry.acquire(REQUEST)) {
			CompletableFuture<LockOutcome<Lease>> future = this.template.acquireAsync(REQUEST);
			assertThat(future.cancel(false)).isTrue();
			Awaitility.await().until(() -> EngineProbe.backgroundActions(this.registry) == 1);
		}
		assertThat(isTaken()).isFalse();
	}

	private LockOutcome<Lease> outcome(LockTemplate template, LockRequest request) {
		return template.acquireAsync(request).orTimeout(20, TimeUnit.SECONDS).join();
	}

	private static String fold(LockOutcome<Lease> outcome) {
		return outcome.<String, RuntimeException>fold((lease) -> "body", (contention) -> "contention",
				(outage) -> "outage");
	}

	private boolean isTaken() {
		return this.other.tryAcquire(AT_ONCE).map((lease) -> {
			lease.close();
			return false;
		}).orElse(true);
	}

}
