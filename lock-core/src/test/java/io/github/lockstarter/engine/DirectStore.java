// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.GroupGrant;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockKeeping;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.ReleaseOutcome;
import io.github.lockstarter.store.WaitingLine;

/**
 * A store that does not block, as that of Redis with Lettuce; its answers may come at
 * once.
 */
class DirectStore implements LockStore {

	final LockStore delegate;

	DirectStore(LockStore delegate) {
		this.delegate = delegate;
	}

	@Override
	public boolean mayBlock() {
		return false;
	}

	@Override
	public Set<LockMode> modes() {
		return this.delegate.modes();
	}

	@Override
	public CompletionStage<LockAttempt> acquire(LeaseRequest request, boolean wait) {
		return this.delegate.acquire(request, wait);
	}

	@Override
	public List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
		return this.delegate.renew(requests);
	}

	@Override
	public CompletionStage<ReleaseOutcome> release(LockKey key, OwnerToken owner, @Nullable LockMode next) {
		return this.delegate.release(key, owner, next);
	}

	@Override
	public Optional<LockKeeping> keeping() {
		return this.delegate.keeping();
	}

	@Override
	public Optional<GroupGrant> groupGrant() {
		return this.delegate.groupGrant();
	}

	@Override
	public WaitingLine waitingLine() {
		return this.delegate.waitingLine();
	}

}
