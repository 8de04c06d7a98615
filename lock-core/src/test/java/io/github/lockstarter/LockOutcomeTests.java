// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.engine.EngineProbe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Bodies that neither block nor return a future.
 */
class LockOutcomeTests extends AbstractBodyTests {

	@Override
	String run(LockTemplate template, LockRequest request, LockedBody<LeaseSet, String, Throwable> body,
			LockFailureHandler<String, Throwable> otherwise) throws Throwable {
		LockOutcome<Lease> outcome = outcome(template, request);
		String result = null;
		Throwable failure = null;
		try {
			result = outcome.fold(body, otherwise);
		}
		catch (Throwable ex) {
			failure = ex;
		}
		join(outcome.end(failure));
		return result;
	}

	@Test
	void theBodyRunsUnderTheLockUntilTheOutcomeIsEnded() {
		LockOutcome<Lease> outcome = outcome(this.template, REQUEST);
		assertThat(fold(outcome)).isEqualTo("body");
		assertThat(isTaken(REQUEST)).isTrue();
		assertThat(outcome.end(null)).succeedsWithin(PATIENCE);
		assertThat(isTaken(REQUEST)).isFalse();
	}

	@Test
	void afterTheEndNothingRunsAndNothingIsReleasedAgain() {
		LockOutcome<Lease> outcome = outcome(this.template, REQUEST);
		assertThat(outcome.end(null)).succeedsWithin(PATIENCE);
		try (Lease next = this.registry.acquire(REQUEST)) {
			assertThatExceptionOfType(CancellationException.class).isThrownBy(() -> fold(outcome));
			assertThat(outcome.end(null)).succeedsWithin(PATIENCE);
			assertThat(next.isHeld()).isTrue();
			assertThat(isTaken(REQUEST)).isTrue();
		}
	}

	@Test
	void anyOtherReasonIsThrown() {
		LockOutcome<Lease> interrupted = LockOutcome.of(() -> {
			throw new LockInterruptedException(KEY);
		}, BodyTerms.of(REQUEST, OnLost.THROW));
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(() -> fold(interrupted));
	}

	@Test
	void noBodyBeginsUnderALockThatWasLostBefore() {
		LockOutcome<Lease> outcome = outcome(this.template, FIXED);
		this.time.advance(LEASE_TIME);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> fold(outcome));
		assertThat(outcome.end(null)).failsWithin(PATIENCE)
			.withThrowableThat()
			.withCauseInstanceOf(LockLostException.class);
	}

	@Test
	void theFailureOfABodyThatTheLossHasCancelledIsSuppressed() {
		LockOutcome<Lease> outcome = outcome(this.template.withOnLost(OnLost.INTERRUPT), FIXED);
		outcome.onLoss(this.runs::incrementAndGet);
		this.time.advance(LEASE_TIME);
		assertThat(this.runs).hasValue(1);
		CancellationException failure = new CancellationException();
		assertThat(outcome.end(failure)).failsWithin(PATIENCE)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockLostException.class)
			.withStackTraceContaining("Suppressed: " + CancellationException.class.getName());
	}

	@Test
	void byDefaultALossDoesNotCancelTheBody() {
		LockOutcome<Lease> outcome = outcome(this.template, FIXED);
		outcome.onLoss(this.runs::incrementAndGet);
		this.time.advance(LEASE_TIME);
		assertThat(this.runs).hasValue(0);
		IllegalStateException failure = new IllegalStateException("of the body");
		assertThat(outcome.end(failure)).failsWithin(PATIENCE).withThrowableThat().withCause(failure);
		assertThat(failure.getSuppressed()).hasExactlyElementsOfTypes(LockLostException.class);
	}

	@Test
	void cancellingTheFutureWithdrawsFromTheWait() {
		try (Lease held = this.registry.acquire(REQUEST)) {
			CompletableFuture<LockOutcome<Lease>> future = this.template.acquireAsync(REQUEST);
			assertThat(future.cancel(false)).isTrue();
			this.time.settle();
			assertThat(EngineProbe.backgroundActions(this.registry)).as("the renewal of the lease").isOne();
		}
		assertThat(isTaken(REQUEST)).isFalse();
	}

	private LockOutcome<Lease> outcome(LockTemplate template, LockRequest request) {
		return template.acquireAsync(request).orTimeout(20, TimeUnit.SECONDS).join();
	}

	private static String fold(LockOutcome<Lease> outcome) {
		return outcome.<String, RuntimeException>fold((lease) -> "body", (failure) -> "handler");
	}

}
