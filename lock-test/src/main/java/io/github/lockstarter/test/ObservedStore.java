// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

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
import io.github.lockstarter.store.StoreServers;
import io.github.lockstarter.store.WaitingLine;

/**
 * Another store, and what it has answered: a test knows from it when a waiter has arrived
 * there.
 */
final class ObservedStore implements LockStore {

	private final LockStore delegate;

	private final WaitingLine line;

	/** The owners that were refused, or entered the line. */
	private final Set<OwnerToken> arrived = ConcurrentHashMap.newKeySet();

	private volatile boolean listening;

	ObservedStore(LockStore delegate) {
		this.delegate = delegate;
		this.line = (delegate.waitingLine() != WaitingLine.NONE) ? new ObservedLine(delegate.waitingLine())
				: WaitingLine.NONE;
	}

	/**
	 * Return how many owners have waited here so far.
	 */
	int arrived() {
		return this.arrived.size();
	}

	/**
	 * Return whether messages arrive.
	 */
	boolean isListening() {
		return this.listening;
	}

	@Override
	public String name() {
		return this.delegate.name();
	}

	@Override
	public String address() {
		return this.delegate.address();
	}

	@Override
	public Set<LockMode> modes() {
		return this.delegate.modes();
	}

	@Override
	public CompletionStage<?> connect() {
		return this.delegate.connect();
	}

	@Override
	public CompletionStage<LockAttempt> acquire(LeaseRequest request, boolean wait) {
		return this.delegate.acquire(request, wait).thenApply((attempt) -> {
			if (attempt instanceof LockAttempt.Refusal) {
				this.arrived.add(request.owner());
			}
			return attempt;
		});
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
		return this.line;
	}

	@Override
	public StoreServers servers() {
		return this.delegate.servers();
	}

	@Override
	public Duration longestLease() {
		return this.delegate.longestLease();
	}

	@Override
	public boolean mayBlock() {
		return this.delegate.mayBlock();
	}

	void close() throws Exception {
		if (this.delegate instanceof AutoCloseable closeable) {
			closeable.close();
		}
	}

	/**
	 * The line of the other store.
	 */
	private final class ObservedLine implements WaitingLine {

		private final WaitingLine delegate;

		ObservedLine(WaitingLine delegate) {
			this.delegate = delegate;
		}

		@Override
		public boolean listen(WaitingLine.Listener listener) {
			ObservedStore.this.listening = this.delegate.listen(listener);
			return ObservedStore.this.listening;
		}

		@Override
		public CompletionStage<Void> enter(LockKey key, OwnerToken owner) {
			return this.delegate.enter(key, owner).thenRun(() -> ObservedStore.this.arrived.add(owner));
		}

		@Override
		public CompletionStage<Void> withdraw(LockKey key) {
			return this.delegate.withdraw(key);
		}

		@Override
		public CompletionStage<Void> withdraw(LockKey key, OwnerToken owner) {
			return this.delegate.withdraw(key, owner);
		}

		@Override
		public CompletionStage<Boolean> isAwaited(LockKey key) {
			return this.delegate.isAwaited(key);
		}

	}

}
