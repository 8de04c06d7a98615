// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.LockKeeping;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.WaitingLine;

/**
 * A store that asks another one. A test overrides what is different: a method, or all
 * requests of some kinds at once.
 */
public class DelegatingStore implements LockStore {

	private final LockStore delegate;

	public DelegatingStore(LockStore delegate) {
		this.delegate = delegate;
	}

	/**
	 * Ask the other store. Renewals do not come here, because there are several in a
	 * request.
	 */
	protected <T> CompletionStage<T> ask(Request kind, Supplier<CompletionStage<T>> request) {
		return request.get();
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
	public CompletionStage<AcquireResult> acquire(LeaseRequest request, boolean wait) {
		return ask(Request.ACQUIRE, () -> this.delegate.acquire(request, wait));
	}

	@Override
	public List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
		return this.delegate.renew(requests);
	}

	@Override
	public CompletionStage<Boolean> release(LockKey key, OwnerToken owner) {
		return ask(Request.RELEASE, () -> this.delegate.release(key, owner));
	}

	@Override
	public Optional<LockKeeping> keeping() {
		return this.delegate.keeping()
			.map((keeping) -> (key, owner, time) -> ask(Request.KEEP, () -> keeping.keep(key, owner, time)));
	}

	@Override
	public Optional<LockInspection> inspection() {
		return this.delegate.inspection().map((inspection) -> new LockInspection() {

			@Override
			public CompletionStage<State> inspect(LockKey key) {
				return ask(Request.INSPECT, () -> inspection.inspect(key));
			}

			@Override
			public CompletionStage<Boolean> free(LockKey key, long fencingToken) {
				return ask(Request.FREE, () -> inspection.free(key, fencingToken));
			}

		});
	}

	@Override
	public WaitingLine waitingLine() {
		return (this.delegate.waitingLine() != WaitingLine.NONE) ? new Line() : WaitingLine.NONE;
	}

	@Override
	public Duration longestLease() {
		return this.delegate.longestLease();
	}

	@Override
	public void setInstance(String name) {
		this.delegate.setInstance(name);
	}

	@Override
	public void onInterruption(Runnable task) {
		this.delegate.onInterruption(task);
	}

	@Override
	public boolean mayBlock() {
		return this.delegate.mayBlock();
	}

	/**
	 * Hear what the other store sends to those who wait.
	 */
	protected boolean listen(WaitingLine.Listener listener) {
		return this.delegate.waitingLine().listen(listener);
	}

	/**
	 * Return whether the other store can reach those who wait.
	 */
	protected Optional<Boolean> isListening() {
		return this.delegate.waitingLine().isListening();
	}

	/**
	 * Enter the line of the other store.
	 */
	protected CompletionStage<Void> enter(LockKey key, OwnerToken owner) {
		return ask(Request.ENTER, () -> this.delegate.waitingLine().enter(key, owner));
	}

	/**
	 * The kinds of requests.
	 */
	public enum Request {

		ACQUIRE, KEEP, RELEASE, ENTER, WITHDRAW, INSPECT, FREE

	}

	private final class Line implements WaitingLine {

		private final WaitingLine line = DelegatingStore.this.delegate.waitingLine();

		@Override
		public boolean listen(WaitingLine.Listener listener) {
			return DelegatingStore.this.listen(listener);
		}

		@Override
		public Optional<Boolean> isListening() {
			return DelegatingStore.this.isListening();
		}

		@Override
		public CompletionStage<Void> enter(LockKey key, OwnerToken owner) {
			return DelegatingStore.this.enter(key, owner);
		}

		@Override
		public CompletionStage<Void> withdraw(LockKey key) {
			return ask(Request.WITHDRAW, () -> this.line.withdraw(key));
		}

		@Override
		public CompletionStage<Void> withdraw(LockKey key, OwnerToken owner) {
			return ask(Request.WITHDRAW, () -> this.line.withdraw(key, owner));
		}

	}

}
