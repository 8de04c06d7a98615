// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthContributors;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.DelegatingStore;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The health of registries.
 */
class LocksHealthTests {

	private static final LockRequest STOCK = LockRequest.of("stock", 1001);

	private final ManualTime time = new ManualTime();

	private final LockMemory memory = new LockMemory(this.time);

	private final Map<String, DefaultLockRegistry> registries = new HashMap<>();

	private DefaultLockRegistry registry(LockStore store) {
		DefaultLockRegistry registry = new DefaultLockRegistry("memory", store, LockSettings.NONE,
				EngineSettings.DEFAULTS, LockListener.NO_OP, this.time);
		this.registries.put("memory", registry);
		return registry;
	}

	private HealthIndicator indicator(Duration patience) {
		LocksHealthContributor contributor = new LocksHealthContributor(() -> this.registries, patience);
		assertThat(contributor.stream()).extracting(HealthContributors.Entry::name).containsExactly("memory");
		assertThat(contributor.getContributor("redis")).isNull();
		return (HealthIndicator) contributor.getContributor("memory");
	}

	private HealthIndicator indicator() {
		return indicator(Duration.ofMinutes(1));
	}

	@Test
	void aRegistryIsUpWithWhatItDoes() throws Exception {
		DefaultLockRegistry registry = registry(new MemoryLockStore(this.memory));
		HealthIndicator indicator = indicator();
		Lease lease = registry.acquire(STOCK);
		Callers.Call<Lease> call = Callers.start(() -> registry.acquire(STOCK)).awaitParked();
		Health health = indicator.health();
		assertThat(health.getStatus()).isEqualTo(Status.UP);
		assertThat(health.getDetails()).containsEntry("held", 1L)
			.containsEntry("waiting", 1)
			.containsEntry("suspects", 0)
			.containsEntry("orphans", 0)
			.containsEntry("renewalLag", Duration.ZERO)
			.hasSize(5);
		lease.close();
		call.get().close();
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void aLeaseThatCannotBeRenewedIsADetail() {
		FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(this.memory));
		DefaultLockRegistry registry = registry(store);
		Lease lease = registry.acquire(STOCK);
		store.renew.loseRequests(() -> true);
		this.time.advance(Duration.ofSeconds(15));
		assertThat(indicator().health().getDetails()).containsEntry("suspects", 1)
			.hasEntrySatisfying("renewalLag", (lag) -> assertThat((Duration) lag).isPositive());
		store.renew.loseRequests(() -> false);
		lease.close();
	}

	@Test
	void aLostLockIsNotCountedAsHeld() {
		DefaultLockRegistry registry = registry(new MemoryLockStore(this.memory));
		Lease lease = registry.acquire(STOCK);
		this.memory.clear();
		this.time.advance(Duration.ofSeconds(10));
		assertThat(registry.localState().held()).hasSize(1);
		assertThat(indicator().health().getDetails()).containsEntry("held", 0L);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
	}

	@Test
	void aStoreThatFailsIsDownWithTheReason() {
		FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(this.memory));
		store.inspect.loseRequests(() -> true);
		registry(store);
		Health health = indicator().health();
		assertThat(health.getStatus()).isEqualTo(Status.DOWN);
		assertThat(health.getDetails()).containsEntry("error", "request lost").containsEntry("held", 0L);
	}

	@Test
	void aStoreThatThrowsIsDownWithTheReason() {
		registry(new Store(() -> {
			throw new IllegalStateException("a defect");
		}));
		assertThat(indicator().health().getDetails()).containsEntry("error", "a defect");
	}

	@Test
	void aStoreThatDoesNotAnswerIsDownAndNotAskedAgain() {
		AtomicInteger questions = new AtomicInteger();
		CompletableFuture<LockInspection.State> answer = new CompletableFuture<>();
		registry(new Store(() -> {
			questions.incrementAndGet();
			return answer;
		}));
		HealthIndicator indicator = indicator(Duration.ZERO);
		assertThat(indicator.health().getDetails()).containsEntry("error", "no answer within 0 ms");
		assertThat(indicator.health().getStatus()).isEqualTo(Status.DOWN);
		assertThat(questions).hasValue(1);
		answer.complete(LockInspection.State.UNKNOWN);
		assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
		assertThat(questions).hasValue(2);
	}

	@Test
	void aStoreThatBlocksOccupiesOneThreadAndNotThatOfTheCaller() {
		CountDownLatch asked = new CountDownLatch(1);
		CountDownLatch unblocked = new CountDownLatch(1);
		AtomicInteger questions = new AtomicInteger();
		// It declares that it may block
		registry(new FaultInjectingStore(new Store(() -> {
			questions.incrementAndGet();
			asked.countDown();
			Callers.await(unblocked);
			return CompletableFuture.completedFuture(LockInspection.State.UNKNOWN);
		})));
		HealthIndicator indicator = indicator(Duration.ZERO);
		assertThat(indicator.health().getStatus()).isEqualTo(Status.DOWN);
		Callers.await(asked);
		assertThat(indicator.health().getStatus()).isEqualTo(Status.DOWN);
		assertThat(questions).hasValue(1);
		unblocked.countDown();
	}

	@Test
	void aStoreThatDoesNotShowItsLocksIsAskedForALeaseThatNobodyHas() {
		FaultInjectingStore store = new FaultInjectingStore(new Store(null));
		registry(store);
		HealthIndicator indicator = indicator();
		assertThat(indicator.health().getStatus()).isEqualTo(Status.UP);
		assertThat(store.renew.calls()).isOne();
		store.renew.loseRequests(() -> true);
		assertThat(indicator.health().getDetails()).containsEntry("error", "request lost");
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void aStoreMayKnowWhetherMessagesArrive() {
		Store store = new Store(() -> CompletableFuture.completedFuture(LockInspection.State.UNKNOWN));
		registry(store);
		HealthIndicator indicator = indicator();
		assertThat(indicator.health().getDetails()).doesNotContainKey("messages");
		store.listening = Optional.of(false);
		assertThat(indicator.health().getDetails()).containsEntry("messages", false);
	}

	@Test
	void anApplicationHasItUnlessItIsSwitchedOff() {
		ApplicationContextRunner application = new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
					LocksHealthContributorAutoConfiguration.class))
			.withPropertyValues("distributed-lock.store=memory");
		application.run((context) -> {
			LocksHealthContributor contributor = context.getBean(LocksHealthContributor.class);
			assertThat(contributor.stream()).singleElement()
				.extracting((entry) -> ((HealthIndicator) entry.contributor()).health().getStatus())
				.isEqualTo(Status.UP);
		});
		application.withPropertyValues("management.health.locks.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(LocksHealthContributor.class));
	}

	@ParameterizedTest
	@ValueSource(strings = { "locksHealthIndicator", "locksHealthContributor" })
	void anApplicationMayHaveOneOfItsOwn(String name) {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
					LocksHealthContributorAutoConfiguration.class))
			.withPropertyValues("distributed-lock.store=memory")
			.withBean(name, HealthIndicator.class, () -> () -> Health.up().build())
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(LocksHealthContributor.class));
	}

	/**
	 * A store whose answers about a lock are those of a test.
	 */
	private final class Store extends DelegatingStore {

		private final @Nullable Supplier<CompletionStage<LockInspection.State>> answers;

		private Optional<Boolean> listening = Optional.empty();

		Store(@Nullable Supplier<CompletionStage<LockInspection.State>> answers) {
			super(new MemoryLockStore(LocksHealthTests.this.memory));
			this.answers = answers;
		}

		@Override
		public Optional<LockInspection> inspection() {
			return Optional.ofNullable(this.answers).map((answers) -> new LockInspection() {

				@Override
				public CompletionStage<State> inspect(LockKey key) {
					return answers.get();
				}

				@Override
				public CompletionStage<Boolean> free(LockKey key, long fencingToken) {
					throw new UnsupportedOperationException();
				}

			});
		}

		@Override
		protected Optional<Boolean> isListening() {
			return this.listening;
		}

	}

}
