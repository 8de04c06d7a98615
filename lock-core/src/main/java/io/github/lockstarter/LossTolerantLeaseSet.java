// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Leases whose {@link #close()} does not report a loss, which the registry has logged.
 */
class LossTolerantLeaseSet implements LeaseSet {

	private final LeaseSet delegate;

	LossTolerantLeaseSet(LeaseSet delegate) {
		this.delegate = delegate;
	}

	/**
	 * Return leases whose loss is not reported.
	 * @param <L> a {@link Lease} or a {@link LeaseSet}
	 */
	@SuppressWarnings("unchecked")
	static <L extends LeaseSet> L of(L delegate) {
		return (L) ((delegate instanceof Lease lease) ? new LossTolerantLease(lease)
				: new LossTolerantLeaseSet(delegate));
	}

	@Override
	public List<Lease> all() {
		return this.delegate.all();
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
	public void holdAtLeast(Duration time) {
		this.delegate.holdAtLeast(time);
	}

	@Override
	public void close() {
		try {
			this.delegate.close();
		}
		catch (LockLostException ex) {
			// Logged when it was noticed; OnLost.LOG asks to continue
		}
	}

	@Override
	public CompletableFuture<Void> closeAsync() {
		return this.delegate.closeAsync()
			.exceptionallyCompose((ex) -> (ex.getCause() instanceof LockLostException)
					? CompletableFuture.completedFuture(null) : CompletableFuture.failedFuture(ex));
	}

}
