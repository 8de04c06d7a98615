// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.List;

/**
 * The lease of one lock that a thread has acquired from a registry.
 */
final class TransactionAwareLease extends TransactionAwareLeaseSet implements Lease {

	private final Lease delegate;

	TransactionAwareLease(Lease delegate, LeaseScope scope, boolean inTransaction, boolean deferring) {
		super(delegate, scope, inTransaction, deferring);
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

	@Override
	public LockMode mode() {
		return this.delegate.mode();
	}

	@Override
	public String store() {
		return this.delegate.store();
	}

}
