// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.boot.health.contributor.HealthIndicator;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.engine.Counts;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.LocalState;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;

/**
 * The health of each registry that the application has created so far: whether its store
 * answers.
 */
final class LocksHealthContributor implements CompositeHealthContributor {

	/** A lock that nobody acquires. */
	static final LockKey QUESTION = LockKey.of("distributed-lock-health");

	private final Supplier<Map<String, DefaultLockRegistry>> registries;

	private final Duration patience;

	private final Map<DefaultLockRegistry, Registry> indicators = new ConcurrentHashMap<>();

	/**
	 * Create a contributor.
	 * @param registries returns the registries that exist, by their names
	 * @param patience how long an answer may take
	 */
	LocksHealthContributor(Supplier<Map<String, DefaultLockRegistry>> registries, Duration patience) {
		this.registries = registries;
		this.patience = patience;
	}

	@Override
	public @Nullable HealthContributor getContributor(String name) {
		DefaultLockRegistry registry = this.registries.get().get(name);
		return (registry != null) ? indicator(registry) : null;
	}

	@Override
	public Stream<Entry> stream() {
		Map<String, DefaultLockRegistry> all = this.registries.get();
		this.indicators.keySet().retainAll(all.values());
		return all.entrySet().stream().map((each) -> new Entry(each.getKey(), indicator(each.getValue())));
	}

	private HealthIndicator indicator(DefaultLockRegistry registry) {
		return this.indicators.computeIfAbsent(registry, Registry::new);
	}

	/**
	 * The health of one registry.
	 */
	private final class Registry implements HealthIndicator {

		private final DefaultLockRegistry registry;

		/** Guarded by this. */
		private @Nullable CompletableFuture<?> answer;

		Registry(DefaultLockRegistry registry) {
			this.registry = registry;
		}

		@Override
		public Health health() {
			Health.Builder health = Health.up();
			try {
				StoreAnswer.await(ask(), LocksHealthContributor.this.patience);
			}
			catch (StoreAnswer.Missing ex) {
				// The outage is logged where locks are requested
				health.down().withDetail("error", ex.reason());
			}
			LocalState state = this.registry.localState();
			Counts counts = this.registry.counts();
			String address = this.registry.store().address();
			if (!address.isEmpty()) {
				health.withDetail("address", address);
			}
			this.registry.store()
				.waitingLine()
				.isListening()
				.ifPresent((listening) -> health.withDetail("messages", listening));
			long held = state.held().stream().filter((each) -> each.status() != LocalState.Status.LOST).count();
			return health.withDetail("held", held)
				.withDetail("waiting", state.waiting().size())
				.withDetail("suspects", counts.suspects())
				.withDetail("orphans", counts.orphans())
				.withDetail("renewalLag", counts.renewalLag())
				.build();
		}

		/** A store that hangs is asked once, so that it does not occupy more threads. */
		private synchronized CompletableFuture<?> ask() {
			CompletableFuture<?> answer = this.answer;
			if (answer == null || answer.isDone()) {
				LockStore store = this.registry.store();
				answer = StoreAnswer.ask(store, () -> question(store));
				this.answer = answer;
			}
			return answer;
		}

		/** Neither question changes anything. */
		private static CompletionStage<Object> question(LockStore store) {
			LockInspection inspection = store.inspection().orElse(null);
			CompletionStage<?> answer = (inspection != null) ? inspection.inspect(QUESTION) : store
				.renew(List.of(new LeaseRequest(QUESTION, OwnerToken.random(LockMode.EXCLUSIVE), Duration.ZERO)))
				.get(0);
			return answer.thenApply((answered) -> answered);
		}

	}

}
