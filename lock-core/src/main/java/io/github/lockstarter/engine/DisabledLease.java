// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;

/**
 * A lease that excludes no other owner and is never lost.
 */
final class DisabledLease implements Lease {

	private final LockKey key;

	private final long fencingToken;

	private volatile boolean closed;

	DisabledLease(LockKey key, long fencingToken) {
		this.key = key;
		this.fencingToken = fencingToken;
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
		return !this.closed;
	}

	@Override
	public void ensureHeld() {
		if (this.closed) {
			throw new IllegalStateException("The lease of lock '" + this.key + "' is closed");
		}
	}

	@Override
	public Duration remaining() {
		return this.closed ? Duration.ZERO : LockRequest.MAX_LEASE_TIME;
	}

	@Override
	public void onLost(Consumer<LockLostException> callback) {
	}

	@Override
	public void holdAtLeast(Duration time) {
	}

	@Override
	public void close() {
		this.closed = true;
	}

	@Override
	public CompletableFuture<Void> closeAsync() {
		close();
		return CompletableFuture.completedFuture(null);
	}

	@Override
	public String toString() {
		return "Lease of lock '" + this.key + "' (locks are disabled, fencing token " + this.fencingToken + ", "
				+ (this.closed ? "closed" : "held") + ")";
	}

}
