// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.scheduling.annotation.Async;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockException;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnContention;
import io.github.lockstarter.OnLost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for annotated methods that return a future.
 */
class FutureMethodTests extends AbstractLaterMethodTests<CompletableFuture<String>, FutureMethodTests.Stock> {

	FutureMethodTests() {
		super(new Stock());
	}

	@Override
	CompletableFuture<String> begun(CompletableFuture<String> result) {
		return result;
	}

	@Test
	void theMethodMayBeDeclaredAsAnyTypeThatAFutureHas() {
		this.target.work.complete("done");
		assertThat(this.stock.stage(1001).toCompletableFuture()).succeedsWithin(PATIENCE).isEqualTo("done");
	}

	@Test
	void aSkippedOptionalIsEmpty() {
		try (Lease held = this.other.acquire(REQUEST)) {
			assertThat(this.stock.skipOptional(1001)).succeedsWithin(PATIENCE).isEqualTo(Optional.empty());
		}
	}

	/** Without an executor, the test is the thread that an executor would provide. */
	@Test
	void anAsyncMethodHoldsItsLockOnItsThreadUntilItsFutureIsDone() {
		CompletableFuture<CompletableFuture<String>> call = CompletableFuture.supplyAsync(() -> this.stock.async(1001));
		this.target.awaitBegun();
		assertThat(isTaken()).isTrue();
		assertThat(call).isNotDone();
		this.target.work.complete("reserved");
		assertThat(call).succeedsWithin(PATIENCE)
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
		assertThat(warehouse.reserve(1001)).succeedsWithin(PATIENCE).isEqualTo("reserved 1001");
		assertThat(warehouse.count(1001).block(PATIENCE)).isPositive();
		assertThat(warehouse.restock(1001)).succeedsWithin(PATIENCE).isEqualTo("restocked 1001");
		assertThat(this.store.release.calls()).isEqualTo(3);
	}

	private static Throwable failure(CompletableFuture<?> future) {
		try {
			return new AssertionError("It succeeded with " + future.orTimeout(20, TimeUnit.SECONDS).join());
		}
		catch (CompletionException ex) {
			return ex.getCause();
		}
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

	static class Stock extends AbstractLaterMethodTests.Stock<CompletableFuture<String>> {

		volatile @Nullable CompletableFuture<String> work = new CompletableFuture<>();

		@Override
		void returns(CompletableFuture<String> work) {
			this.work = work;
		}

		@Override
		public CompletableFuture<String> reserve(long productId) {
			return begin();
		}

		@Override
		public CompletableFuture<String> reserveAtOnce(long productId) {
			return begin();
		}

		@Override
		public CompletableFuture<String> skip(long productId) {
			return begin();
		}

		@Override
		public CompletableFuture<String> reserveOrElse(long productId) {
			return begin();
		}

		CompletableFuture<String> instead(long productId, LockException reason) {
			assertThatIllegalStateException().isThrownBy(Lease::current);
			return CompletableFuture.supplyAsync(() -> reason.getClass().getSimpleName() + " of " + productId);
		}

		@Override
		public CompletableFuture<String> token(long productId) {
			Lease lease = Lease.current();
			return begin().thenApply((value) -> {
				assertThat(lease.isHeld()).isTrue();
				return String.valueOf(lease.fencingToken());
			});
		}

		@Override
		public CompletableFuture<String> count(List<Long> productIds) {
			LeaseSet leases = LeaseSet.current();
			return begin().thenApply((value) -> {
				assertThat(leases.isHeld()).isTrue();
				return String.valueOf(leases.all().size());
			});
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

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", onContention = OnContention.SKIP)
		public CompletableFuture<Optional<String>> skipOptional(long productId) {
			return begin().thenApply(Optional::of);
		}

		@DistributedLock(name = "stock", key = "#name")
		public CompletableFuture<String> byName(@Nullable String name) {
			return begin();
		}

		private CompletableFuture<String> begin() {
			this.calls.add(Thread.currentThread().getName());
			return this.work;
		}

	}

}
