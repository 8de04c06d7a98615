// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockLostException;

/**
 * Leases of several locks that were acquired together.
 *
 * @param all one lease for each lock, in the order in which the locks were acquired
 * @param releases releases locks for a caller that must not block
 */
record HeldLeases(List<Lease> all, Function<Runnable, CompletableFuture<Void>> releases) implements LeaseSet {

	private static final Log logger = LogFactory.getLog(HeldLeases.class);

	/**
	 * Release the acquired locks, because not all could be acquired.
	 */
	static void release(List<Lease> leases) {
		try {
			close(leases);
		}
		catch (LockLostException ex) {
			logger.debug("A lock was lost while waiting for others", ex);
		}
	}

	@Override
	public boolean isHeld() {
		return this.all.stream().allMatch(Lease::isHeld);
	}

	@Override
	public void ensureHeld() {
		this.all.forEach(Lease::ensureHeld);
	}

	@Override
	public Duration remaining() {
		return this.all.stream().map(Lease::remaining).min(Duration::compareTo).orElse(Duration.ZERO);
	}

	@Override
	public void onLost(Consumer<LockLostException> callback) {
		AtomicBoolean called = new AtomicBoolean();
		this.all.forEach((lease) -> lease.onLost((loss) -> {
			if (called.compareAndSet(false, true)) {
				callback.accept(loss);
			}
		}));
	}

	@Override
	public void holdAtLeast(Duration time) {
		this.all.forEach((lease) -> lease.holdAtLeast(time));
	}

	@Override
	public void close() {
		close(this.all);
	}

	/** Each is closed even if others fail. */
	private static void close(List<Lease> leases) {
		Throwable failure = null;
		for (int i = leases.size() - 1; i >= 0; i--) {
			try {
				leases.get(i).close();
			}
			catch (RuntimeException | Error ex) {
				if (failure != null) {
					ex.addSuppressed(failure);
				}
				failure = ex;
			}
		}
		if (failure instanceof Error error) {
			throw error;
		}
		if (failure != null) {
			throw (RuntimeException) failure;
		}
	}

	@Override
	public CompletableFuture<Void> closeAsync() {
		return this.releases.apply(this::close);
	}

	@Override
	public String toString() {
		return this.all.toString();
	}

}
