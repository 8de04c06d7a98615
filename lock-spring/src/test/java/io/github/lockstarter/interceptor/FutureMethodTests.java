// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.scheduling.annotation.Async;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockException;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.OnContention;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.OnUnavailable;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineProbe;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for annotated methods that return a future.
 */
class FutureMethodTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private static final LockRequest AT_ONCE = REQUEST.withWaitTime(Duration.ZERO);

	private final ManualTime time = new ManualTime();

	private final LockMemory memory = new LockMemory(this.time);

	private final FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(this.memory));

	private final DefaultLockRegistry registry = new DefaultLockRegistry(this.store, EngineSettings.DEFAULTS,
			LockListener.NO_OP, this.time);

	private final DefaultLockRegistry other = new DefaultLockRegistry(new MemoryLockStore(this.memory),
			EngineSettings.DEFAULTS, LockListener.NO_OP, this.time);

	private final Stock target = new Stock();

	private final Stock stock = proxy(this.target);

	@AfterEach
	void nothingIsLeft() {
		// What an outage has left open is released until its lease is over
		this.time.advance(EngineSettings.DEFAULTS.leaseTime());
		EngineProbe.closeWhenIdle(this.registry, this.other);
	}

	@Test
	void theLockIsHeldUntilTheFutureIsDone() {
		CompletableFuture<String> result = this.stock.reserve(1001);
		this.target.awaitBegun();
		assertThat(isTaken()).isTrue();
		assertThat(result).isNotDone();
		this.target.work.complete("reserved");
		assertThat(result).succeedsWithin(Duration.ofSeconds(20)).isEqualTo("reserved");
		assertThat(isTaken()).isFalse();
	}

	@Test
	void theCallerIsNotBlockedAndTheMethodIsCalledWhenTheLockIsThere() {
		CompletableFuture<String> result;
		this.target.work.complete("reserved");
		try (Lease held = this.registry.acquire(REQUEST)) {
			result = this.stock.reserve(1001);
			assertThat(this.target.calls).isEmpty();
		}
		assertThat(result).succeedsWithin(Duration.ofSeconds(20)).isEqualTo("reserved");
		assertThat(this.target.calls).singleElement().asString().doesNotContain(Thread.currentThread().getName());
	}

	@Test
	void theMethodMayBeDeclaredAsAnyTypeThatAFutureHas() {
		this.target.work.complete("done");
		assertThat(this.stock.stage(1001).toCompletableFuture()).succeedsWithin(Duration.ofSeconds(20))
			.isEqualTo("done");
	}

	@Test
	void theLocksOfSeveralKeysAreHeldUntilTheFutureIsDone() {
		CompletableFuture<Integer> count = this.stock.count(List.of(1002L, 1001L));
		this.target.awaitBegun();
		assertThat(this.other.tryAcquire(REQUEST.withWaitTime(Duration.ZERO))).isEmpty();
		this.target.work.complete("done");
		assertThat(count).succeedsWithin(Duration.ofSeconds(20)).isEqualTo(2);
		assertThat(this.other.tryAcquire(REQUEST.withWaitTime(Duration.ZERO))).hasValueSatisfying(Lease::close);
	}

	@Test
	void callsAtTheSameTimeHaveLeasesOfTheirOwn() {
		this.target.work.complete("done");
		List<CompletableFuture<Long>> tokens = new CopyOnWriteArrayList<>();
		try (Lease held = this.registry.acquire(REQUEST)) {
			for (int i = 0; i < 20; i++) {
				tokens.add(this.stock.token(1001));
			}
		}
		assertThat(tokens.stream().map((token) -> token.orTimeout(20, TimeUnit.SECONDS).join())).doesNotHaveDuplicates()
			.isSorted();
	}

	@Test
	void contentionFailsTheFutureOrIsSkippedOrLeadsToTheFallback() {
		try (Lease held = this.other.acquire(REQUEST)) {
			assertThat(failure(this.stock.reserveAtOnce(1001))).isInstanceOf(LockContendedException.class);
			assertThat(this.stock.skip(1001)).succeedsWithin(Duration.ofSeconds(20)).isNull();
			assertThat(this.stock.skipOptional(1001)).succeedsWithin(Duration.ofSeconds(20))
				.isEqualTo(Optional.empty());
			assertThat(this.stock.reserveOrElse(1001)).succeedsWithin(Duration.ofSeconds(20))
				.isEqualTo("LockContendedException of 1001");
		}
		assertThat(this.target.calls).isEmpty();
	}

	@Test
	void anOutageFailsTheFutureOrLeadsToTheFallback() {
		this.store.acquire.loseRequests(() -> true);
		assertThat(failure(this.stock.reserveAtOnce(1001))).isInstanceOf(LockUnavailableException.class);
		assertThat(failure(this.stock.skip(1001))).isInstanceOf(LockUnavailableException.class);
		assertThat(this.stock.reserveOrElse(1001)).succeedsWithin(Duration.ofSeconds(20))
			.isEqualTo("LockUnavailableException of 1001");
		assertThat(this.target.calls).isEmpty();
	}

	/** Without an executor, the test is the thread that an executor would provide. */
	@Test
	void anAsyncMethodHoldsItsLockOnItsThreadUntilItsFutureIsDone() {
		CompletableFuture<CompletableFuture<String>> call = CompletableFuture.supplyAsync(() -> this.stock.async(1001));
		this.target.awaitBegun();
		assertThat(isTaken()).isTrue();
		assertThat(call).isNotDone();
		this.target.work.complete("reserved");
		assertThat(call).succeedsWithin(Duration.ofSeconds(20))
			.satisfies((result) -> assertThat(result).isCompletedWithValue("reserved"));
		assertThat(isTaken()).isFalse();
	}

	@Test
	void theFailureOfTheFutureOfAnAsyncMethodIsThatOfItsThread() {
		this.target.work.completeExceptionally(new IllegalStateException("out of order"));
		assertThatIllegalStateException().isThrownBy(() -> this.stock.async(1001)).withMessage("out of order");
		try (Lease held = this.other.acquire(REQUEST)) {
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> this.stock.async(1001));
		}
		assertThat(this.target.calls).hasSize(1);
	}

	@Test
	void aLossCancelsTheFutureOfAnAsyncMethodIfThatIsThePolicy() {
		CompletableFuture<CompletableFuture<String>> call = CompletableFuture.supplyAsync(() -> this.stock.async(1001));
		this.target.awaitBegun();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(failure(call)).isInstanceOf(LockLostException.class)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).hasExactlyElementsOfTypes(CancellationException.class));
		assertThat(this.target.work).isCancelled();
	}

	@Test
	void aMethodThatReturnsNoFutureFails() {
		this.target.work = null;
		assertThat(failure(this.stock.reserve(1001))).isInstanceOf(NullPointerException.class)
			.hasMessageContaining("instead of a future");
	}

	@Test
	void aCallWithoutAKeyIsRefusedAtOnce() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.stock.byName(null))
			.withMessageContaining("'#name', is null");
	}

	@Test
	void theSnippetsOfTheReferenceWork() {
		Warehouse warehouse = proxy(new Warehouse(new LockTemplate(this.registry)));
		assertThat(warehouse.reserve(1001)).succeedsWithin(Duration.ofSeconds(20)).isEqualTo("reserved 1001");
		assertThat(warehouse.count(1001).block(Duration.ofSeconds(20))).isPositive();
		assertThat(warehouse.restock(1001)).succeedsWithin(Duration.ofSeconds(20)).isEqualTo("restocked 1001");
		assertThat(this.store.release.calls()).isEqualTo(3);
	}

	private boolean isTaken() {
		return this.other.tryAcquire(AT_ONCE).map((lease) -> {
			lease.close();
			return false;
		}).orElse(true);
	}

	private static Throwable failure(CompletableFuture<?> future) {
		try {
			return new AssertionError("It succeeded with " + future.orTimeout(20, TimeUnit.SECONDS).join());
		}
		catch (CompletionException ex) {
			return ex.getCause();
		}
	}

	@SuppressWarnings("unchecked")
	private <T> T proxy(T target) {
		ProxyFactory factory = new ProxyFactory(target);
		factory.setProxyTargetClass(true);
		factory.addAdvisor(new DistributedLockAdvisor(new LockDefinitionSource(new DefaultListableBeanFactory()),
				(name) -> this.registry));
		return (T) factory.getProxy();
	}

	/**
	 * The example of the reference documentation.
	 */
	static class Warehouse {

		private final LockTemplate lockTemplate;

		private final Supplier supplier = new Supplier();

		Warehouse(LockTemplate lockTemplate) {
			this.lockTemplate = lockTemplate;
		}

		@DistributedLock(name = "stock", key = "#productId")
		public CompletableFuture<String> reserve(long productId) {
			return this.supplier.ask("reserved", productId);
		}

		@DistributedLock(name = "stock", key = "#productId")
		public Mono<Long> count(long productId) {
			return this.supplier.count(productId, Lease.current().fencingToken());
		}

		public CompletableFuture<String> restock(long productId) {
			return this.lockTemplate.executeAsync(LockRequest.of("stock", productId),
					(lease) -> this.supplier.ask("restocked", productId));
		}

	}

	static class Supplier {

		CompletableFuture<String> ask(String what, long productId) {
			return CompletableFuture.supplyAsync(() -> what + " " + productId);
		}

		Mono<Long> count(long productId, long fencingToken) {
			return Mono.fromSupplier(() -> fencingToken).subscribeOn(Schedulers.parallel());
		}

	}

	static class Stock {

		final List<String> calls = new CopyOnWriteArrayList<>();

		volatile @Nullable CompletableFuture<String> work = new CompletableFuture<>();

		@DistributedLock(name = "stock", key = "#productId")
		public CompletableFuture<String> reserve(long productId) {
			return begin();
		}

		@DistributedLock(name = "stock", key = "#productId")
		public CompletionStage<String> stage(long productId) {
			return begin();
		}

		@Async
		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", leaseTime = "1s",
				onLost = OnLost.INTERRUPT)
		public CompletableFuture<String> async(long productId) {
			return begin();
		}

		@DistributedLock(name = "stock", key = "#productIds")
		public CompletableFuture<Integer> count(List<Long> productIds) {
			LeaseSet leases = LeaseSet.current();
			return begin().thenApply((value) -> {
				assertThat(leases.isHeld()).isTrue();
				return leases.all().size();
			});
		}

		@DistributedLock(name = "stock", key = "#productId")
		public CompletableFuture<Long> token(long productId) {
			Lease lease = Lease.current();
			return begin().thenApply((value) -> {
				assertThat(lease.isHeld()).isTrue();
				return lease.fencingToken();
			});
		}

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s")
		public CompletableFuture<String> reserveAtOnce(long productId) {
			return begin();
		}

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", onContention = OnContention.SKIP)
		public CompletableFuture<String> skip(long productId) {
			return begin();
		}

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", onContention = OnContention.SKIP)
		public CompletableFuture<Optional<String>> skipOptional(long productId) {
			return begin().thenApply(Optional::of);
		}

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", fallback = "instead",
				onUnavailable = OnUnavailable.FALLBACK)
		public CompletableFuture<String> reserveOrElse(long productId) {
			return begin();
		}

		CompletableFuture<String> instead(long productId, LockException reason) {
			assertThatIllegalStateException().isThrownBy(Lease::current);
			return CompletableFuture.supplyAsync(() -> reason.getClass().getSimpleName() + " of " + productId);
		}

		@DistributedLock(name = "stock", key = "#name")
		public CompletableFuture<String> byName(@Nullable String name) {
			return begin();
		}

		private CompletableFuture<String> begin() {
			this.calls.add(Thread.currentThread().getName());
			return this.work;
		}

		void awaitBegun() {
			Awaitility.await().until(() -> !this.calls.isEmpty());
		}

	}

}
