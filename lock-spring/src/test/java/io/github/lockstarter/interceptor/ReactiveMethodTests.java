// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.reactivestreams.Publisher;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockException;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.OnContention;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.engine.EngineProbe;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.testsupport.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for annotated methods that return a publisher.
 */
class ReactiveMethodTests extends AbstractLaterMethodTests<Mono<String>, ReactiveMethodTests.Stock> {

	ReactiveMethodTests() {
		super(new Stock());
	}

	@Override
	CompletableFuture<String> begun(Mono<String> result) {
		return result.toFuture();
	}

	@Test
	void eachSubscriptionTakesTheLockAnew() {
		Mono<String> token = this.stock.token(1001)
			.doOnNext((value) -> assertThatIllegalStateException().isThrownBy(Lease::current));
		assertThat(this.store.acquire.calls()).isZero();
		assertThat(token.block(PATIENCE)).isNotEqualTo(token.block(PATIENCE));
		assertThat(this.store.acquire.calls()).isEqualTo(2);
	}

	@Test
	@ExtendWith(CapturedLog.Extension.class)
	void aMethodThatBlocksOnAThreadThatMustNotIsNamedOnce(CapturedLog log) {
		Mono<Integer> blocking = Mono.fromSupplier(() -> this.stock.left(1001));
		assertThat(blocking.subscribeOn(Schedulers.boundedElastic()).block(PATIENCE)).isEqualTo(1);
		assertThat(log.toString()).isEmpty();
		assertThat(blocking.subscribeOn(Schedulers.parallel()).block(PATIENCE)).isEqualTo(2);
		assertThat(blocking.subscribeOn(Schedulers.parallel()).block(PATIENCE)).isEqualTo(3);
		assertThat(log.toString()).containsOnlyOnce("must not block").contains("Stock.left(long)' waits for its lock");
	}

	@Test
	void severalLocksAreReenteredOneByOne() {
		this.target.self = this.stock;
		assertThat(this.stock.nestedInSeveral(1001).block(PATIENCE)).isEqualTo("2");
		assertThat(this.stock.severalAroundOne(List.of(1002L, 1001L)).block(PATIENCE)).isNotNull();
		assertThat(isTaken()).isFalse();
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void aSkippedFluxIsEmpty() {
		try (Lease held = this.other.acquire(REQUEST)) {
			assertThat(this.stock.skipAll(1001).collectList().block(PATIENCE)).isEmpty();
		}
	}

	@Test
	void aMethodWhoseSubscriptionIsCancelledKeepsTheLockUntilItReturns() {
		AtomicReference<Disposable> subscription = new AtomicReference<>();
		CountDownLatch subscribed = new CountDownLatch(1);
		AtomicBoolean takenAfterCancel = new AtomicBoolean();
		AtomicInteger subscriptions = new AtomicInteger();
		this.target.mono = Mono.fromSupplier(() -> "done " + subscriptions.incrementAndGet());
		this.target.called = () -> {
			awaitUninterrupted(subscribed);
			subscription.get().dispose();
			takenAfterCancel.set(isTaken());
		};
		subscription.set(this.stock.reserve(1001).subscribe());
		subscribed.countDown();
		this.target.awaitBegun();
		Awaitility.await().until(() -> !isTaken());
		assertThat(takenAfterCancel).isTrue();
		assertThat(subscriptions).hasValue(0);
	}

	@Test
	void anErrorThatReactorWouldNotPassOnEndsTheSubscription() {
		Mono<String> unlinked = this.stock.unlinked(1001);
		assertThatIllegalStateException().isThrownBy(() -> unlinked.block(PATIENCE))
			.withCauseInstanceOf(NoClassDefFoundError.class);
		assertThat(isTaken()).isFalse();
	}

	@Test
	void ofTwoTimesToHoldALockTheLongerOneCounts() {
		LockRequest twice = LockRequest.of("twice").withWaitTime(Duration.ZERO);
		this.stock.heldTwice().block(PATIENCE);
		this.time.advance(Duration.ofMinutes(1).minusNanos(1));
		assertThat(this.other.tryAcquire(twice)).isEmpty();
		this.time.advance(Duration.ofNanos(1));
		assertThat(this.other.tryAcquire(twice)).hasValueSatisfying(Lease::close);
	}

	private static void awaitUninterrupted(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Test
	void anEmptyMonoGivesTheLockBack() {
		this.target.mono = Mono.empty();
		assertThat(this.stock.reserve(1001).block(PATIENCE)).isNull();
		assertThat(isTaken()).isFalse();
	}

	@Test
	void aFluxHoldsTheLockUntilItsEnd() {
		this.target.flux = Flux.range(1, 3).map((number) -> number + (isTaken() ? " locked" : " free"));
		List<String> values = this.stock.items(1001).collectList().block(PATIENCE);
		assertThat(values).containsExactly("1 locked", "2 locked", "3 locked");
		assertThat(isTaken()).isFalse();
	}

	@Test
	void aFluxIsAskedForNoMoreThanItsSubscriberWants() {
		AtomicInteger produced = new AtomicInteger();
		this.target.flux = Flux.range(1, 100).doOnNext((number) -> produced.incrementAndGet()).map(String::valueOf);
		assertThat(this.stock.items(1001).limitRate(5).take(2).collectList().block(PATIENCE)).containsExactly("1", "2");
		assertThat(produced.get()).isLessThan(10);
		Awaitility.await().until(() -> !isTaken());
	}

	@Test
	void anErrorGivesTheLockBackAndReachesTheSubscriber() {
		this.target.mono = Mono.error(new IllegalStateException("out of order"));
		this.target.flux = Flux.error(new IllegalStateException("out of order"));
		assertThatIllegalStateException().isThrownBy(() -> this.stock.reserve(1001).block(PATIENCE))
			.withMessage("out of order");
		assertThat(isTaken()).isFalse();
		assertThatIllegalStateException().isThrownBy(() -> this.stock.items(1001).blockLast(PATIENCE))
			.withMessage("out of order");
		assertThat(isTaken()).isFalse();
		this.target.broken = true;
		assertThatIllegalStateException().isThrownBy(() -> this.stock.reserve(1001).block(PATIENCE))
			.withMessage("broken");
		assertThat(isTaken()).isFalse();
	}

	@Test
	void cancellingASubscriptionEndsTheWorkAndThenGivesTheLockBack() {
		AtomicBoolean takenAtCancel = new AtomicBoolean();
		Semaphore requested = new Semaphore(0);
		this.target.mono = Mono.<String>never()
			.doOnCancel(() -> takenAtCancel.set(isTaken()))
			.doOnRequest((count) -> requested.release());
		Disposable subscription = this.stock.reserve(1001).subscribe();
		Awaitility.await().until(requested::tryAcquire);
		subscription.dispose();
		assertThat(takenAtCancel).isTrue();
		Awaitility.await().until(() -> !isTaken());
	}

	@Test
	void cancellingASubscriptionEndsTheWait() {
		try (Lease held = this.registry.acquire(REQUEST)) {
			Disposable subscription = this.stock.reserve(1001).subscribe();
			subscription.dispose();
			Awaitility.await().until(() -> EngineProbe.backgroundActions(this.registry) == 1);
		}
		assertThat(this.target.calls).isEmpty();
	}

	@Test
	void cancellingInAnyInstantLeavesNothingLocked() {
		this.target.mono = Mono.never();
		this.target.flux = Flux.never();
		for (int i = 0; i < 200; i++) {
			Disposable subscription = ((i % 2 == 0) ? this.stock.reserve(1001) : this.stock.items(1001).last())
				.subscribe();
			for (int spins = 0; spins < i; spins++) {
				Thread.onSpinWait();
			}
			subscription.dispose();
			this.registry.acquire(REQUEST).close();
		}
	}

	@Test
	void theSubscribingThreadIsNotBlocked() {
		CompletableFuture<String> result;
		try (Lease held = this.registry.acquire(REQUEST)) {
			result = this.stock.reserve(1001).subscribeOn(Schedulers.parallel()).toFuture();
			assertThat(Mono.just("next").subscribeOn(Schedulers.parallel()).block(PATIENCE)).isEqualTo("next");
			assertThat(result).isNotDone();
		}
		assertThat(result).succeedsWithin(PATIENCE).isEqualTo("done");
		assertThat(this.target.calls).noneMatch((thread) -> thread.startsWith("parallel"));
	}

	@Test
	void nestedMethodsOfOneChainShareTheLease() {
		this.target.self = this.stock;
		assertThat(this.stock.nested(1001).block(PATIENCE)).isEqualTo("done");
		assertThat(this.store.acquire.calls()).isOne();
		assertThat(this.store.release.calls()).isOne();
	}

	/** The chain still runs under a lost lock, but under that of another registry. */
	@Test
	void aLockOfAnotherRegistryIsAnotherLockInAChain() {
		this.target.self = this.stock;
		this.target.called = () -> {
			this.memory.clear();
			this.time.advance(EngineSettings.DEFAULTS.leaseTime());
		};
		assertThat(this.stock.lostAndElsewhere(1001).block(PATIENCE)).isEqualTo("elsewhere");
	}

	@Test
	void branchesOfOneChainExcludeEachOther() {
		Sinks.One<String> first = Sinks.one();
		this.target.mono = first.asMono();
		this.target.self = this.stock;
		CompletableFuture<String> both = this.stock.branches(1001).toFuture();
		this.target.awaitBegun();
		// The renewals of both locks, and the end of the wait of the other branch
		Awaitility.await().until(() -> EngineProbe.backgroundActions(this.registry) == 3);
		assertThat(this.target.calls).hasSize(1);
		first.tryEmitValue("done");
		assertThat(both).succeedsWithin(PATIENCE).isEqualTo("donedone");
		assertThat(this.target.calls).hasSize(2);
	}

	@Test
	void aContentionThatTheBodyMeetsReachesTheSubscriber() {
		this.target.mono = Mono.error(new LockContendedException(REQUEST.key(), Duration.ZERO));
		assertThatExceptionOfType(LockContendedException.class)
			.isThrownBy(() -> this.stock.reserveOrElse(1001).block(PATIENCE));
	}

	@Test
	void aLostLockEndsThePublisherWithAnError() {
		this.target.mono = Mono.fromSupplier(this::loseAll);
		this.target.flux = Flux.defer(() -> Flux.just("first", loseAll()));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.stock.reserve(1001).block(PATIENCE));
		List<String> values = new ArrayList<>();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.stock.items(1001).doOnNext(values::add).blockLast(PATIENCE));
		assertThat(values).containsExactly("first", "lost");
		assertThat(this.stock.carryOn(1001).block(PATIENCE)).isEqualTo("lost");
		this.target.mono = Mono.defer(() -> Mono.error(new IllegalStateException(loseAll())));
		assertThatIllegalStateException().isThrownBy(() -> this.stock.reserve(1001).block(PATIENCE))
			.satisfies((ex) -> assertThat(ex.getSuppressed()).hasAtLeastOneElementOfType(LockLostException.class));
	}

	@Test
	void aLossCancelsTheWorkIfThatIsThePolicy() {
		AtomicInteger cancelled = new AtomicInteger();
		Semaphore requested = new Semaphore(0);
		Flux<String> never = Flux.<String>never()
			.doOnCancel(cancelled::incrementAndGet)
			.doOnRequest((count) -> requested.release());
		this.target.mono = never.next();
		this.target.flux = never;
		assertFailsAtTheEndOfTheLease(this.stock.interruptible(1001), requested);
		assertFailsAtTheEndOfTheLease(this.stock.interruptibleItems(1001).last(), requested);
		assertThat(cancelled).hasValue(2);
	}

	@Test
	void aLossCancelsWorkThatNeverLeavesItsThread() {
		AtomicBoolean begun = new AtomicBoolean();
		this.target.flux = Flux.generate((sink) -> {
			if (begun.compareAndSet(false, true)) {
				this.time.advance(Duration.ofSeconds(1));
			}
			sink.next("item");
		});
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.stock.interruptibleItems(1001).blockLast(PATIENCE));
	}

	private void assertFailsAtTheEndOfTheLease(Mono<String> work, Semaphore requested) {
		CompletableFuture<String> result = work.toFuture();
		Awaitility.await().until(requested::tryAcquire);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(result).failsWithin(PATIENCE).withThrowableThat().withCauseInstanceOf(LockLostException.class);
	}

	@Test
	void aLockIsKeptForSomeTimeIfTheWorkSucceeds() {
		this.target.mono = Mono.error(new IllegalStateException("out of order"));
		assertThatIllegalStateException().isThrownBy(() -> this.stock.once(1001).block(PATIENCE));
		assertThat(isTaken()).isFalse();
		this.target.mono = Mono.never();
		Disposable subscription = this.stock.once(1001).subscribe();
		Awaitility.await().until(() -> this.target.calls.size() == 2);
		subscription.dispose();
		Awaitility.await().until(() -> !isTaken());
		this.target.mono = Mono.just("done");
		assertThat(this.stock.once(1001).block(PATIENCE)).isEqualTo("done");
		assertThat(isTaken()).isTrue();
	}

	@Test
	void readersShareTheLock() {
		try (Lease reader = this.registry.acquire(REQUEST.withMode(LockMode.READ))) {
			assertThat(this.stock.read(1001).block(PATIENCE)).isEqualTo("done");
			assertThat(this.target.calls).doesNotContain(Thread.currentThread().getName());
		}
	}

	@Test
	void otherReactiveTypesAreFollowedAsWell() {
		this.target.flux = Flux.just("1", "2").map((value) -> value + (isTaken() ? " locked" : " free"));
		assertThat(Flux.from(this.stock.publisher(1001)).collectList().block(PATIENCE)).containsExactly("1 locked",
				"2 locked");
		assertThat(JdkFlowAdapter.flowPublisherToFlux(this.stock.flow(1001)).collectList().block(PATIENCE))
			.containsExactly("1 locked", "2 locked");
	}

	private String loseAll() {
		this.memory.clear();
		return "lost";
	}

	static class Stock extends AbstractLaterMethodTests.Stock<Mono<String>> {

		volatile Mono<String> mono = Mono.just("done");

		volatile Flux<String> flux = Flux.just("done");

		volatile boolean broken;

		volatile Runnable called = () -> {
		};

		@Nullable Stock self;

		@Override
		void returns(CompletableFuture<String> work) {
			this.mono = Mono.fromFuture(work);
		}

		@Override
		public Mono<String> reserve(long productId) {
			return begin();
		}

		@Override
		public Mono<String> reserveAtOnce(long productId) {
			return begin();
		}

		@Override
		public Mono<String> skip(long productId) {
			return begin();
		}

		@Override
		public Mono<String> reserveOrElse(long productId) {
			return begin();
		}

		Mono<String> instead(long productId, LockException reason) {
			return Mono.just(reason.getClass().getSimpleName() + " of " + productId);
		}

		@Override
		public Mono<String> token(long productId) {
			Lease lease = Lease.current();
			return begin().map((value) -> {
				lease.ensureHeld();
				return String.valueOf(lease.fencingToken());
			});
		}

		@Override
		public Mono<String> count(List<Long> productIds) {
			LeaseSet leases = LeaseSet.current();
			return begin().map((value) -> {
				leases.ensureHeld();
				return String.valueOf(leases.all().size());
			});
		}

		@DistributedLock(name = "stock", key = "#productId")
		public int left(long productId) {
			this.calls.add("left");
			return this.calls.size();
		}

		@DistributedLock(name = "stock", key = "#productId")
		public Flux<String> items(long productId) {
			begin();
			return this.flux;
		}

		@DistributedLock(name = "stock", key = "#productId")
		public Publisher<String> publisher(long productId) {
			return this.flux;
		}

		@DistributedLock(name = "stock", key = "#productId")
		public Flow.Publisher<String> flow(long productId) {
			return JdkFlowAdapter.publisherToFlowPublisher(this.flux);
		}

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", onContention = OnContention.SKIP)
		public Flux<String> skipAll(long productId) {
			return this.flux;
		}

		@DistributedLock(name = "stock", key = "#productId", onLost = OnLost.LOG)
		public Mono<String> carryOn(long productId) {
			return begin();
		}

		@DistributedLock(name = "stock", key = "#productId", leaseTime = "1s", onLost = OnLost.INTERRUPT)
		public Mono<String> interruptible(long productId) {
			return begin();
		}

		@DistributedLock(name = "stock", key = "#productId", leaseTime = "1s", onLost = OnLost.INTERRUPT)
		public Flux<String> interruptibleItems(long productId) {
			return this.flux;
		}

		@DistributedLock(name = "stock", key = "#productId", holdAtLeast = "1h")
		public Mono<String> once(long productId) {
			return begin();
		}

		@DistributedLock(name = "stock", key = "#productId", mode = LockMode.READ, waitTime = "0s")
		public Mono<String> read(long productId) {
			return begin();
		}

		@DistributedLock(name = "stock", key = "#productId")
		public Mono<String> nested(long productId) {
			return this.self.reserve(productId)
				.publishOn(Schedulers.parallel())
				.flatMap((value) -> this.self.reserveAtOnce(productId));
		}

		@DistributedLock(name = "stock", key = "#productId", onLost = OnLost.LOG)
		public Mono<String> lostAndElsewhere(long productId) {
			return begin().flatMap((value) -> this.self.elsewhere(productId));
		}

		@DistributedLock(name = "stock", key = "#productId", registry = "elsewhere")
		public Mono<String> elsewhere(long productId) {
			return Mono.just("elsewhere");
		}

		@DistributedLock(name = "stock", key = "#productId")
		public Mono<String> unlinked(long productId) {
			throw new NoClassDefFoundError("gone");
		}

		@DistributedLock(name = "twice", holdAtLeast = "1m")
		@DistributedLock(name = "twice", holdAtLeast = "1s")
		public Mono<String> heldTwice() {
			return Mono.just("done");
		}

		@DistributedLock(name = "stock", key = "#productId")
		public Mono<String> nestedInSeveral(long productId) {
			return this.self.count(List.of(productId, productId + 1));
		}

		@DistributedLock(name = "stock", key = "#productIds")
		public Mono<String> severalAroundOne(List<Long> productIds) {
			return this.self.reserveAtOnce(productIds.get(1));
		}

		@DistributedLock(name = "branching", key = "#productId")
		public Mono<String> branches(long productId) {
			return Mono.zip(this.self.reserve(productId), this.self.reserve(productId), String::concat);
		}

		private Mono<String> begin() {
			this.calls.add(Thread.currentThread().getName());
			this.called.run();
			if (this.broken) {
				throw new IllegalStateException("broken");
			}
			return this.mono;
		}

	}

}
