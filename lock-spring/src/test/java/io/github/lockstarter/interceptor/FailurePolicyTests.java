// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockException;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.OnContention;
import io.github.lockstarter.OnUnavailable;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.FaultInjectingStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for annotated methods whose lock cannot be acquired.
 */
class FailurePolicyTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private final LockMemory memory = new LockMemory();

	private final FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(this.memory));

	private final DefaultLockRegistry registry = registry(this.store);

	private final DefaultLockRegistry other = registry(new MemoryLockStore(this.memory));

	private final Stock target = new Stock();

	private final Stock stock = proxy(this.target);

	@AfterEach
	void close() {
		this.registry.close();
		this.other.close();
	}

	@Test
	void theFallbackGetsTheArgumentsAndTheContention() {
		try (Lease held = this.other.acquire(LockRequest.of(KEY))) {
			assertThat(this.stock.deduct(1001, 2)).isEqualTo("fallback for 1001, 2");
			assertThat(this.stock.deductUnlessContended(1001, 2)).isEqualTo("contention for 1001, 2");
		}
		assertThat(this.target.events).containsExactly("LockContendedException of stock:1001",
				"LockContendedException of stock:1001");
	}

	@Test
	void theFallbackGetsTheArgumentsAndTheOutage() {
		this.store.acquire.loseRequests(() -> true);
		assertThat(this.stock.deduct(1001, 2)).isEqualTo("fallback for 1001, 2");
		assertThat(this.target.events).containsExactly("LockUnavailableException of stock:1001");
	}

	@Test
	void aFallbackWithoutTheReasonIsCalledForContentionAndOutage() {
		try (Lease held = this.other.acquire(LockRequest.of(KEY))) {
			assertThat(this.stock.find(1001)).hasValue("instead of 1001");
		}
		this.store.acquire.loseRequests(() -> true);
		assertThat(this.stock.find(1001)).hasValue("instead of 1001");
		assertThat(this.target.events).isEmpty();
	}

	@Test
	void byDefaultAnOutageIsThrownAlsoWithAFallback() {
		this.store.acquire.loseRequests(() -> true);
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.stock.deductUnlessContended(1001, 2));
		assertThat(this.target.events).isEmpty();
	}

	@Test
	void theFallbackHasNoLeaseNotEvenThatOfTheCaller() {
		try (Lease held = this.other.acquire(LockRequest.of(KEY))) {
			assertThat(this.stock.token(1001, held)).isEqualTo(-1);
			assertThat(this.stock.token(1001, null)).isEqualTo(-1);
		}
		assertThat(this.stock.token(1001, null)).isPositive();
	}

	@Test
	void anOutageThatTheBodyMeetsReachesTheCaller() {
		this.target.inside = () -> {
			this.store.acquire.loseRequests(() -> true);
			this.registry.acquire(LockRequest.of("stock", 1002).withWaitTime(Duration.ZERO));
		};
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.stock.deduct(1001, 2))
			.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo(LockKey.of("stock", 1002)));
		assertThat(this.target.events).containsExactly("body");
	}

	@Test
	void contentionThatTheBodyMeetsReachesTheCaller() {
		this.target.inside = () -> {
			throw new LockContendedException(KEY, Duration.ZERO);
		};
		assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> this.stock.deduct(1001, 2));
		assertThat(this.target.events).containsExactly("body");
	}

	@Test
	void aLostLockReachesTheCaller() {
		this.target.inside = this.memory::clear;
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.stock.deduct(1001, 2));
		assertThat(this.target.events).containsExactly("body");
	}

	@Test
	void aLossThatANestedCallMeetsReachesTheCaller() {
		this.target.inside = () -> {
			while (Lease.current().isHeld()) {
				Thread.onSpinWait();
			}
			this.stock.deduct(1001, 2);
		};
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.stock.deductBriefly(1001, 2));
		assertThat(this.target.events).containsExactly("body");
	}

	@Test
	void anInterruptReachesTheCaller() {
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(() -> this.stock.deduct(1001, 2));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.target.events).isEmpty();
	}

	@Test
	void anOutageIsNeverSkipped() {
		this.store.acquire.loseRequests(() -> true);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.stock.count(1001));
	}

	@Test
	void aSkippedCallReturnsNullForATypeWithoutAnEmptyValue() {
		try (Lease held = this.other.acquire(LockRequest.of(KEY))) {
			assertThat(this.stock.count(1001)).isNull();
		}
		assertThat(this.target.events).isEmpty();
	}

	private static DefaultLockRegistry registry(LockStore store) {
		return new DefaultLockRegistry(store, EngineSettings.DEFAULTS, LockListener.NO_OP);
	}

	private Stock proxy(Stock target) {
		ProxyFactory factory = new ProxyFactory(target);
		factory.setProxyTargetClass(true);
		factory.addAdvisor(new DistributedLockAdvisor(new LockDefinitionSource(new DefaultListableBeanFactory()),
				() -> this.registry));
		return (Stock) factory.getProxy();
	}

	static class Stock {

		final List<String> events = new ArrayList<>();

		Runnable inside = () -> {
		};

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", fallback = "reserve",
				onUnavailable = OnUnavailable.FALLBACK)
		public String deduct(long productId, int count) {
			return body();
		}

		String reserve(long productId, int count, LockException reason) {
			this.events.add(reason.getClass().getSimpleName() + " of " + reason.getKey());
			return "fallback for " + productId + ", " + count;
		}

		@DistributedLock(name = "stock", key = "#productId", leaseTime = "1s", fallback = "reserve",
				onUnavailable = OnUnavailable.FALLBACK)
		public String deductBriefly(long productId, int count) {
			return body();
		}

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", fallback = "reserveOnContention")
		public String deductUnlessContended(long productId, int count) {
			return body();
		}

		private String reserveOnContention(long productId, int count, LockContendedException reason) {
			reserve(productId, count, reason);
			return "contention for " + productId + ", " + count;
		}

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", fallback = "findElsewhere",
				onUnavailable = OnUnavailable.FALLBACK)
		public Optional<String> find(long productId) {
			return Optional.of(body());
		}

		static Optional<String> findElsewhere(long productId) {
			return Optional.of("instead of " + productId);
		}

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", fallback = "noToken")
		public long token(long productId, @Nullable Lease lease) {
			return (lease != null) ? lease.fencingToken() : 0;
		}

		long noToken(long productId, @Nullable Lease lease, Exception reason) {
			assertThat(lease).isNull();
			assertThat(reason).isInstanceOf(LockContendedException.class);
			return -1;
		}

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", onContention = OnContention.SKIP)
		public @Nullable Integer count(long productId) {
			return body().length();
		}

		private String body() {
			this.events.add("body");
			this.inside.run();
			return "done";
		}

	}

}
