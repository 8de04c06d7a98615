// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;

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
 * A store behind a {@link Network}: as one instance sees it.
 */
final class SimulatedStore implements LockStore {

	private final LockStore server;

	private final Network network;

	private final BiConsumer<LeaseRequest, AcquireResult.Grant> grants;

	/**
	 * Create a store.
	 * @param grants told of each grant when the server decides on it
	 */
	SimulatedStore(LockStore server, Network network, BiConsumer<LeaseRequest, AcquireResult.Grant> grants) {
		this.server = server;
		this.network = network;
		this.grants = grants;
	}

	@Override
	public Set<LockMode> modes() {
		return this.server.modes();
	}

	@Override
	public void setInstance(String name) {
		this.server.setInstance(name);
	}

	@Override
	public CompletionStage<AcquireResult> acquire(LeaseRequest request, boolean wait) {
		return this.network.send(() -> this.server.acquire(request, wait).thenApply((result) -> {
			if (result instanceof AcquireResult.Grant grant) {
				this.grants.accept(request, grant);
			}
			return result;
		}));
	}

	@Override
	public List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
		List<CompletionStage<Boolean>> answers = new ArrayList<>(requests.size());
		for (LeaseRequest request : requests) {
			answers.add(this.network.send(() -> this.server.renew(List.of(request)).get(0)));
		}
		return answers;
	}

	@Override
	public CompletionStage<Boolean> release(LockKey key, OwnerToken owner) {
		return this.network.send(() -> this.server.release(key, owner));
	}

	@Override
	public Optional<LockKeeping> keeping() {
		return this.server.keeping()
			.map((keeping) -> (LockKey key, OwnerToken owner, Duration time) -> this.network
				.send(() -> keeping.keep(key, owner, time)));
	}

	@Override
	public Optional<LockInspection> inspection() {
		return this.server.inspection();
	}

	@Override
	public WaitingLine waitingLine() {
		WaitingLine line = this.server.waitingLine();
		return new WaitingLine() {

			@Override
			public boolean listen(Listener listener) {
				return line.listen(new Listener() {

					@Override
					public void onRelease(LockKey key) {
						SimulatedStore.this.network.deliver(() -> listener.onRelease(key));
					}

					@Override
					public void onDoubt() {
						SimulatedStore.this.network.deliver(listener::onDoubt);
					}

				});
			}

			@Override
			public CompletionStage<Void> enter(LockKey key, OwnerToken owner) {
				return SimulatedStore.this.network.send(() -> line.enter(key, owner));
			}

			@Override
			public CompletionStage<Void> withdraw(LockKey key) {
				return SimulatedStore.this.network.send(() -> line.withdraw(key));
			}

			@Override
			public CompletionStage<Void> withdraw(LockKey key, OwnerToken owner) {
				return SimulatedStore.this.network.send(() -> line.withdraw(key, owner));
			}

		};
	}

	@Override
	public void onInterruption(Runnable task) {
		this.network.onInterruption(task);
	}

	@Override
	public boolean mayBlock() {
		return false;
	}

}
