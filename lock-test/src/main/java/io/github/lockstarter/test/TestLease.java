// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;

/**
 * A lease without a lock, for unit tests of code that gets one, or that asks for
 * {@link Lease#current()}. It is held until it is {@linkplain #close() closed} or
 * {@linkplain #lose() lost}; no time ends it.
 *
 * <pre class="code">
 * TestLease lease = TestLease.of("stock", 1001).withFencingToken(7);
 * lease.run(() -&gt; stock.deduct(1001));
 * </pre>
 */
public final class TestLease implements Lease {

	private static final Duration REMAINING = Duration.ofSeconds(30);

	private final LockKey key;

	private final long fencingToken;

	/** Guarded by itself. */
	private final List<Consumer<LockLostException>> callbacks = new ArrayList<>();

	private volatile @Nullable LockLostException loss;

	private volatile boolean closed;

	private TestLease(LockKey key, long fencingToken) {
		this.key = key;
		this.fencingToken = fencingToken;
	}

	/**
	 * Return a lease with the fencing token 1.
	 */
	public static TestLease of(String name, Object key) {
		return of(LockKey.of(name, key));
	}

	/**
	 * Return a lease with the fencing token 1.
	 */
	public static TestLease of(LockKey key) {
		return new TestLease(key, 1);
	}

	/**
	 * Return a lease of the same lock with another fencing token.
	 */
	public TestLease withFencingToken(long fencingToken) {
		return new TestLease(this.key, fencingToken);
	}

	/**
	 * Run code in which this is the {@linkplain Lease#current() current} lease, and close
	 * it, as an annotated method does.
	 * @param <T> the type of the result
	 * @param <X> the type of exception that the code may throw
	 * @return the result of the code
	 * @throws LockLostException if this lease was lost
	 */
	public <T extends @Nullable Object, X extends Throwable> T call(Body<T, X> body) throws X {
		return new LockTemplate(new Granting()).<T, X>executeChecked(LockRequest.of(this.key), (lease) -> body.call());
	}

	/**
	 * Run code as {@link #call} does.
	 * @param <X> the type of exception that the code may throw
	 */
	public <X extends Throwable> void run(Action<X> body) throws X {
		this.<Boolean, X>call(() -> {
			body.run();
			return true;
		});
	}

	/**
	 * Lose this lease, and tell those who want to know.
	 */
	public void lose() {
		LockLostException loss = new LockLostException(this.key, this.fencingToken, "a test wants it");
		List<Consumer<LockLostException>> told;
		synchronized (this.callbacks) {
			if (!isHeld()) {
				return;
			}
			this.loss = loss;
			told = List.copyOf(this.callbacks);
		}
		told.forEach((callback) -> callback.accept(loss));
	}

	@Override
	public LockKey key() {
		return this.key;
	}

	@Override
	public long fencingToken() {
		return this.fencingToken;
	}

	@Override
	public boolean isHeld() {
		return this.loss == null && !this.closed;
	}

	@Override
	public void ensureHeld() {
		throwLoss();
		if (this.closed) {
			throw new IllegalStateException("The lease of lock '" + this.key + "' is closed");
		}
	}

	@Override
	public Duration remaining() {
		return isHeld() ? REMAINING : Duration.ZERO;
	}

	@Override
	public void onLost(Consumer<LockLostException> callback) {
		LockLostException loss;
		synchronized (this.callbacks) {
			loss = this.loss;
			this.callbacks.add(callback);
		}
		if (loss != null) {
			callback.accept(loss);
		}
	}

	/**
	 * Does nothing: there is no lock to keep.
	 */
	@Override
	public void holdAtLeast(Duration time) {
	}

	@Override
	public void close() {
		boolean first = !this.closed;
		this.closed = true;
		if (first) {
			throwLoss();
		}
	}

	@Override
	public CompletableFuture<Void> closeAsync() {
		try {
			close();
			return CompletableFuture.completedFuture(null);
		}
		catch (LockLostException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	private void throwLoss() {
		LockLostException loss = this.loss;
		if (loss != null) {
			throw loss;
		}
	}

	/**
	 * Code with a result.
	 */
	@FunctionalInterface
	public interface Body<T extends @Nullable Object, X extends Throwable> {

		T call() throws X;

	}

	/**
	 * Code without a result.
	 */
	@FunctionalInterface
	public interface Action<X extends Throwable> {

		void run() throws X;

	}

	/**
	 * Grants this lease, as far as a template asks for it.
	 */
	private final class Granting implements LockRegistry {

		@Override
		public Lease acquire(LockRequest request) {
			return TestLease.this;
		}

		@Override
		public Optional<Lease> tryAcquire(LockRequest request) {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletableFuture<Lease> acquireAsync(LockRequest request) {
			throw new UnsupportedOperationException();
		}

		@Override
		public LeaseSet acquireAll(Collection<LockRequest> requests) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Optional<LeaseSet> tryAcquireAll(Collection<LockRequest> requests) {
			throw new UnsupportedOperationException();
		}

		@Override
		public CompletableFuture<LeaseSet> acquireAllAsync(Collection<LockRequest> requests) {
			throw new UnsupportedOperationException();
		}

	}

}
