// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.OnContention;
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

/**
 * What is promised to annotated methods whose work ends after their return, whatever they
 * return.
 *
 * @param <R> what they return
 * @param <S> the bean with such methods
 */
abstract class AbstractLaterMethodTests<R, S extends AbstractLaterMethodTests.Stock<R>> {

	static final Duration PATIENCE = Duration.ofSeconds(20);

	static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private static final LockRequest AT_ONCE = REQUEST.withWaitTime(Duration.ZERO);

	final ManualTime time = new ManualTime();

	final LockMemory memory = new LockMemory(this.time);

	final FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(this.memory));

	final DefaultLockRegistry registry = new DefaultLockRegistry(this.store, EngineSettings.DEFAULTS,
			LockListener.NO_OP, this.time);

	final DefaultLockRegistry other = new DefaultLockRegistry(new MemoryLockStore(this.memory), EngineSettings.DEFAULTS,
			LockListener.NO_OP, this.time);

	private final DefaultLockRegistry elsewhere = new DefaultLockRegistry(
			new MemoryLockStore(new LockMemory(this.time)), EngineSettings.DEFAULTS, LockListener.NO_OP, this.time);

	final S target;

	final S stock;

	AbstractLaterMethodTests(S target) {
		this.target = target;
		this.stock = proxy(target);
	}

	/**
	 * Begin the work of a call, unless it has begun already.
	 */
	abstract CompletableFuture<String> begun(R result);

	@AfterEach
	void nothingIsLeft() {
		// What an outage has left open is released until its lease is over
		this.time.advance(EngineSettings.DEFAULTS.leaseTime());
		EngineProbe.closeWhenIdle(this.registry, this.other, this.elsewhere);
	}

	@Test
	void theLockIsHeldUntilTheWorkEnds() {
		CompletableFuture<String> work = new CompletableFuture<>();
		this.target.returns(work);
		CompletableFuture<String> result = begun(this.stock.reserve(1001));
		CompletableFuture<Boolean> takenAtResult = result.thenApply((value) -> isTaken());
		this.target.awaitBegun();
		assertThat(isTaken()).isTrue();
		assertThat(result).isNotDone();
		work.complete("reserved");
		assertThat(result).succeedsWithin(PATIENCE).isEqualTo("reserved");
		assertThat(takenAtResult).succeedsWithin(PATIENCE).isEqualTo(false);
	}

	@Test
	void theCallerIsNotBlockedAndTheMethodIsCalledWhenTheLockIsThere() {
		this.target.returns(CompletableFuture.completedFuture("reserved"));
		CompletableFuture<String> result;
		try (Lease held = this.registry.acquire(REQUEST)) {
			result = begun(this.stock.reserve(1001));
			assertThat(this.target.calls).isEmpty();
		}
		assertThat(result).succeedsWithin(PATIENCE).isEqualTo("reserved");
		assertThat(this.target.calls).singleElement().asString().doesNotContain(Thread.currentThread().getName());
	}

	@Test
	void theLocksOfSeveralKeysAreHeldUntilTheWorkEnds() {
		CompletableFuture<String> work = new CompletableFuture<>();
		this.target.returns(work);
		CompletableFuture<String> count = begun(this.stock.count(List.of(1002L, 1001L)));
		this.target.awaitBegun();
		assertThat(isTaken()).isTrue();
		work.complete("done");
		assertThat(count).succeedsWithin(PATIENCE).isEqualTo("2");
		assertThat(isTaken()).isFalse();
	}

	@Test
	void callsAtTheSameTimeHaveLeasesOfTheirOwn() {
		this.target.returns(CompletableFuture.completedFuture("done"));
		List<CompletableFuture<String>> tokens = new CopyOnWriteArrayList<>();
		try (Lease held = this.registry.acquire(REQUEST)) {
			for (int i = 0; i < 20; i++) {
				tokens.add(begun(this.stock.token(1001)));
			}
		}
		assertThat(tokens.stream().map((token) -> Long.valueOf(token.orTimeout(20, TimeUnit.SECONDS).join())))
			.doesNotHaveDuplicates()
			.isSorted();
	}

	@Test
	void contentionIsAFailureOrSkippedOrLeadsToTheFallback() {
		try (Lease held = this.other.acquire(REQUEST)) {
			assertFails(this.stock.reserveAtOnce(1001), LockContendedException.class);
			assertThat(begun(this.stock.skip(1001))).succeedsWithin(PATIENCE).isNull();
			assertThat(begun(this.stock.reserveOrElse(1001))).succeedsWithin(PATIENCE)
				.isEqualTo("LockContendedException of 1001");
		}
		assertThat(this.target.calls).isEmpty();
	}

	@Test
	void anOutageIsAFailureOrLeadsToTheFallback() {
		this.store.acquire.loseRequests(() -> true);
		assertFails(this.stock.reserveAtOnce(1001), LockUnavailableException.class);
		assertFails(this.stock.skip(1001), LockUnavailableException.class);
		assertThat(begun(this.stock.reserveOrElse(1001))).succeedsWithin(PATIENCE)
			.isEqualTo("LockUnavailableException of 1001");
		assertThat(this.target.calls).isEmpty();
	}

	private void assertFails(R result, Class<? extends LockException> failure) {
		assertThat(begun(result)).failsWithin(PATIENCE).withThrowableThat().withCauseInstanceOf(failure);
	}

	boolean isTaken() {
		return this.other.tryAcquire(AT_ONCE).map((lease) -> {
			lease.close();
			return false;
		}).orElse(true);
	}

	@SuppressWarnings("unchecked")
	<T> T proxy(T target) {
		ProxyFactory factory = new ProxyFactory(target);
		factory.setProxyTargetClass(true);
		factory.addAdvisor(new DistributedLockAdvisor(new LockDefinitionSource(new DefaultListableBeanFactory()),
				(name) -> name.isEmpty() ? this.registry : this.elsewhere));
		return (T) factory.getProxy();
	}

	/**
	 * A bean whose methods inherit these annotations.
	 *
	 * @param <R> what they return
	 */
	abstract static class Stock<R> {

		final List<String> calls = new CopyOnWriteArrayList<>();

		/**
		 * Let the methods return this work from now on.
		 */
		abstract void returns(CompletableFuture<String> work);

		@DistributedLock(name = "stock", key = "#productId")
		public abstract R reserve(long productId);

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s")
		public abstract R reserveAtOnce(long productId);

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", onContention = OnContention.SKIP)
		public abstract R skip(long productId);

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", fallback = "instead",
				onUnavailable = OnUnavailable.FALLBACK)
		public abstract R reserveOrElse(long productId);

		/** The fencing token of its lease, at the end of the work. */
		@DistributedLock(name = "stock", key = "#productId")
		public abstract R token(long productId);

		/** The number of its leases, at the end of the work. */
		@DistributedLock(name = "stock", key = "#productIds", waitTime = "0s")
		public abstract R count(List<Long> productIds);

		void awaitBegun() {
			Awaitility.await().until(() -> !this.calls.isEmpty());
		}

	}

}
