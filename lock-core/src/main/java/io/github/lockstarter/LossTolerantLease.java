// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A lease whose {@link #close()} keeps quiet about a loss, which the registry has logged.
 */
record LossTolerantLease(Lease delegate) implements Lease {

	@Override
	public LockKey key() {
		return this.delegate.key();
	}

	@Override
	public List<Lease> all() {
		return this.delegate.all();
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
	public void holdAtLeast(Duration time) {
		this.delegate.holdAtLeast(time);
	}

	@Override
	public void close() {
		try {
			this.delegate.close();
		}
		catch (LockLostException ex) {
			// Logged when it was noticed; carrying on is what OnLost.LOG asks for
		}
	}

	@Override
	public CompletableFuture<Void> closeAsync() {
		return this.delegate.closeAsync()
			.exceptionallyCompose((ex) -> (ex.getCause() instanceof LockLostException)
					? CompletableFuture.completedFuture(null) : CompletableFuture.failedFuture(ex));
	}

}
