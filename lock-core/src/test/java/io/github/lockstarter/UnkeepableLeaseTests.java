// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
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

	@RegisterExtension
	private final ManualInstances instances = new ManualInstances();

	private final DefaultLockRegistry registry = this.instances.registry();

	private final LockedExecution.Terms terms = new LockedExecution.Terms(this.registry, OnLost.THROW,
			Map.of(REQUEST.key(), Duration.ofMinutes(1)));

	private final UnsupportedOperationException refusal = new UnsupportedOperationException("expected by the test");

	private final AtomicInteger runs = new AtomicInteger();

	/** How often the lease can be kept. */
	private final AtomicInteger keepable = new AtomicInteger();

	private final Lease lease = new UnkeepableLease(this.registry.acquire(REQUEST), this.keepable, this.refusal);

	@AfterEach
	void theLockIsReleased() {
		this.instances.time.settle();
		assertThat(LeaseContext.all()).isEmpty();
		assertThat(EngineProbe.activeLocks(this.registry)).isZero();
		assertThat(this.instances.memory.isEmpty()).isTrue();
	}

	@Test
	void beforeABodyOnAThread() {
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> run((lease) -> "body"))
			.isSameAs(this.refusal);
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void afterABodyOnAThread() {
		this.keepable.set(1);
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> run((lease) -> "body"))
			.isSameAs(this.refusal);
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void afterABodyOnAThreadThatFails() {
		this.keepable.set(1);
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> run((lease) -> {
			throw new IllegalStateException("of the body");
		})).satisfies((failure) -> assertThat(failure).hasSuppressedException(this.refusal));
	}

	@Test
	void beforeABodyWithAFuture() {
		assertThat(runAsync()).failsWithin(PATIENCE).withThrowableThat().withCause(this.refusal);
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void afterABodyWithAFuture() {
		this.keepable.set(1);
		assertThat(runAsync()).failsWithin(PATIENCE).withThrowableThat().withCause(this.refusal);
		assertThat(this.runs).hasValue(1);
	}

	private String run(LockedBody<Lease, String, RuntimeException> body) {
		return LockedExecution.<Lease, String, RuntimeException>run(this.lease, this.terms, (lease) -> {
			this.runs.incrementAndGet();
			return body.run(lease);
		});
	}

	private CompletableFuture<String> runAsync() {
		return LockedExecution.runAsync(CompletableFuture.completedFuture(this.lease), this.terms,
				(lease) -> CompletableFuture.completedFuture("body " + this.runs.incrementAndGet()), (failure) -> {
					throw failure;
				});
	}

	private record UnkeepableLease(Lease delegate, AtomicInteger keepable, RuntimeException refusal) implements Lease {

		@Override
		public void holdAtLeast(Duration time) {
			if (this.keepable.getAndDecrement() <= 0) {
				throw this.refusal;
			}
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
