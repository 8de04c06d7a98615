// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.List;

/**
 * A lease whose {@link #close()} does not report a loss, which the registry has logged.
 */
final class LossTolerantLease extends LossTolerantLeaseSet implements Lease {

	private final Lease delegate;

	LossTolerantLease(Lease delegate) {
		super(delegate);
		this.delegate = delegate;
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

}
