// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineProbe;
import io.github.lockstarter.testsupport.ManualInstances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A lease of a foreign registry that cannot be kept is released all the same.
 */
class UnkeepableLeaseTests {

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private static final HoldTimes TIMES = HoldTimes.of(REQUEST.withHoldAtLeast(Duration.ofMinutes(1)));

	private static final BodyTerms TERMS = new BodyTerms(OnLost.THROW, TIMES);

	@RegisterExtension
	private final ManualInstances instances = new ManualInstances();

	private final DefaultLockRegistry registry = this.instances.registry();

	private final UnsupportedOperationException refusal = new UnsupportedOperationException("expected by the test");

	private final Lease lease = new UnkeepableLease(this.registry.acquire(REQUEST), this.refusal);

	private final LockOutcome<Lease> outcome = new LockOutcome<>(this.lease, null, TERMS);

	@AfterEach
	void theLockIsReleased() {
		this.instances.time.settle();
		assertThat(EngineProbe.activeLocks(this.registry)).isZero();
		assertThat(this.instances.memory.isEmpty()).isTrue();
	}

	@Test
	void afterABodyOnAThread() {
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> run((lease) -> "body"))
			.isSameAs(this.refusal);
		assertThat(LeaseContext.all()).isEmpty();
	}

	@Test
	void afterABodyOnAThreadThatFails() {
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> run((lease) -> {
			throw new IllegalStateException("of the body");
		})).satisfies((failure) -> assertThat(failure).hasSuppressedException(this.refusal));
		assertThat(LeaseContext.all()).isEmpty();
	}

	@Test
	void afterABodyWithoutAThread() {
		assertThat(this.outcome.end(null)).failsWithin(PATIENCE).withThrowableThat().withCause(this.refusal);
	}

	@Test
	void beforeABodyWithoutAThread() {
		FutureOutcome<Lease> future = new FutureOutcome<>(CompletableFuture.completedFuture(this.lease), TERMS);
		assertThat(future).succeedsWithin(PATIENCE)
			.satisfies((outcome) -> assertThatExceptionOfType(UnsupportedOperationException.class)
				.isThrownBy(() -> outcome.fold((lease) -> "body", (failure) -> "handler")));
	}

	private String run(LockedBody<Lease, String, RuntimeException> body) {
		return new ThreadExecution<>(this.outcome).<String, RuntimeException>run(body, (failure) -> "handler");
	}

	private record UnkeepableLease(Lease delegate, RuntimeException refusal) implements Lease {

		@Override
		public void holdAtLeast(Duration time) {
			throw this.refusal;
		}

		@Override
		public LockKey key() {
			return this.delegate.key();
		}

		@Override
		public List<Lease> all() {
			return List.of(this);
		}

		@Override
		public long fencingToken() {
			return this.delegate.fencingToken();
		}

		@Override
		public boolean isHeld() {
			return this.delegate.isHeld();
		}

		@Override
		public void ensureHeld() {
			this.delegate.ensureHeld();
		}

		@Override
		public Duration remaining() {
			return this.delegate.remaining();
		}

		@Override
		public void onLost(Consumer<LockLostException> callback) {
			this.delegate.onLost(callback);
		}

		@Override
		public void close() {
			this.delegate.close();
		}

		@Override
		public CompletableFuture<Void> closeAsync() {
			return this.delegate.closeAsync();
		}

	}

}
