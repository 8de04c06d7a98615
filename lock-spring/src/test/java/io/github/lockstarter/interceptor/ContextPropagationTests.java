// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockException;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnUnavailable;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineProbe;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.spring.EnableDistributedLocks;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.testsupport.CallerContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The table of contexts in the reference documentation, row by row.
 */
class ContextPropagationTests {

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private static final LockRequest AT_ONCE = REQUEST.withWaitTime(Duration.ZERO);

	private static final CallerContext ALICE = CallerContext.of("alice");

	private final ManualTime time = new ManualTime();

	private final LockMemory memory = new LockMemory(this.time);

	private final FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(this.memory));

	private final Map<Class<?>, CallerContext> events = new ConcurrentHashMap<>();

	private final DefaultLockRegistry registry = new DefaultLockRegistry(this.store, EngineSettings.DEFAULTS,
			(event) -> this.events.put(event.getClass(), CallerContext.current()), this.time);

	private final LockTemplate template = new LockTemplate(this.registry);

	private final Stock stock = proxy(new Stock());

	@BeforeEach
	void registerAccessors() {
		CallerContext.registerAccessors();
	}

	@AfterEach
	void nothingIsLeft() {
		Hooks.disableAutomaticContextPropagation();
		CallerContext.removeAccessors();
		// What an outage has left open is released until its lease is over
		this.time.advance(EngineSettings.DEFAULTS.leaseTime());
		EngineProbe.closeWhenIdle(this.registry);
	}

	@Test
	void aBodyOfATemplateHasTheContextOfTheCall() {
		assertSeenByAlice(() -> this.template.executeAsync(REQUEST, this::seen));
		assertSeenByAlice(() -> this.template.executeAsync(List.of(REQUEST), this::seen));
	}

	@Test
	void aMethodThatReturnsAFutureHasTheContextOfTheCall() {
		assertSeenByAlice(() -> this.stock.reserve(1001));
	}

	@Test
	void anotherCallerThatPassesTheLockOnDoesNotPassItsContextOn() {
		CompletableFuture<CallerContext> ofAlice = new CompletableFuture<>();
		CompletableFuture<CallerContext> ofNobody = new CompletableFuture<>();
		CallerContext.as("bob", () -> {
			try (Lease lease = this.registry.acquire(REQUEST)) {
				CallerContext bob = CallerContext.current();
				onThread(() -> CallerContext.as("alice", () -> forward(this.stock.reserve(1001), ofAlice)));
				onThread(() -> forward(this.stock.reserve(1001), ofNobody));
				return bob;
			}
		});
		assertThat(ofAlice).succeedsWithin(PATIENCE).isEqualTo(ALICE);
		assertThat(ofNobody).succeedsWithin(PATIENCE).isEqualTo(CallerContext.NONE);
	}

	@Test
	void aThreadThatIsUsedAgainHasForgottenTheEarlierCaller() {
		for (int i = 0; i < 20; i++) {
			assertSeenByAlice(() -> this.stock.reserve(1001));
			assertThat(this.stock.reserve(1001)).succeedsWithin(PATIENCE).isEqualTo(CallerContext.NONE);
		}
	}

	@Test
	void handlersAndFallbacksOnContentionHaveTheContextOfTheCall() {
		try (Lease held = this.registry.acquire(REQUEST)) {
			assertSeenByAlice(() -> this.template.executeAsyncOrElse(AT_ONCE, this::unexpected, this::seen));
			assertSeenByAlice(() -> this.stock.reserveOrElse(1001));
			assertSeenByAlice(() -> this.stock.countOrElse(1001).toFuture());
		}
	}

	@Test
	void handlersAndFallbacksOnAnOutageHaveTheContextOfTheCall() {
		this.store.acquire.loseRequests(() -> true);
		assertSeenByAlice(() -> this.template.executeAsyncOrElse(AT_ONCE, this::unexpected, this::seen));
		assertSeenByAlice(() -> this.stock.reserveOrElse(1001));
		assertSeenByAlice(() -> this.stock.countOrElse(1001).toFuture());
		this.store.acquire.loseRequests(() -> false);
	}

	@Test
	void aCallbackForALossHasTheContextInWhichItWasRegistered() {
		List<CallerContext> seen = new ArrayList<>();
		List<LockRequest> both = Stream.of(1002, 1003)
			.map((id) -> LockRequest.of("stock", id).withLeaseTime(SECOND))
			.toList();
		Lease lease = this.registry.acquire(REQUEST.withLeaseTime(SECOND));
		LeaseSet leases = this.registry.acquireAll(both);
		for (LeaseSet each : List.of(lease, leases)) {
			CallerContext.as("alice", () -> {
				each.onLost((loss) -> add(seen));
				return each;
			});
			CallerContext.as("bob", () -> {
				each.onLost((loss) -> add(seen));
				return each;
			});
			each.onLost((loss) -> add(seen));
		}
		this.time.advance(SECOND);
		Awaitility.await().until(() -> size(seen) == 6);
		CallerContext bob = CallerContext.of("bob");
		assertThat(seen).containsExactlyInAnyOrder(ALICE, bob, CallerContext.NONE, ALICE, bob, CallerContext.NONE);
	}

	@Test
	void asynchronousActionsOfAFutureLeaseHaveTheContextOfTheCall() {
		assertSeenByAlice(() -> after(this.registry.acquireAsync(REQUEST)));
		assertSeenByAlice(() -> after(this.registry.acquireAllAsync(List.of(REQUEST))));
		assertSeenByAlice(() -> this.template.executeAsync(REQUEST, (lease) -> CompletableFuture.completedFuture(1))
			.thenApplyAsync((result) -> CallerContext.current()));
	}

	@Test
	void otherActionsOfAFutureLeaseHaveThatOfTheThreadThatHappensToRunThem() {
		CompletableFuture<CallerContext> waiting;
		try (Lease held = this.registry.acquire(REQUEST)) {
			waiting = CallerContext.as("alice", () -> this.registry.acquireAsync(REQUEST).thenApply((lease) -> {
				lease.closeAsync();
				return CallerContext.current();
			}));
		}
		assertThat(waiting).succeedsWithin(PATIENCE).isEqualTo(CallerContext.NONE);
	}

	@Test
	void aMethodThatReturnsAPublisherHasTheContextOfTheThreadThatSubscribes() {
		assertThat(CallerContext.as("alice", () -> this.stock.count(1001).block(PATIENCE))).isEqualTo(ALICE);
		assertThat(CallerContext.as("alice", () -> this.stock.all(1001).blockFirst(PATIENCE))).isEqualTo(ALICE);
		assertThat(subscribedElsewhere(this.stock.count(1001))).isEqualTo(CallerContext.NONE);
	}

	@Test
	void withAutomaticPropagationAMethodThatReturnsAPublisherHasTheContextOfReactor() {
		Hooks.enableAutomaticContextPropagation();
		assertThat(subscribedElsewhere(this.stock.count(1001))).isEqualTo(ALICE);
		assertThat(subscribedElsewhere(this.stock.all(1001).single())).isEqualTo(ALICE);
		assertThat(subscribedElsewhere(this.stock.later(1001))).isEqualTo(ALICE);
		assertThat(subscribedElsewhere(this.stock.count(1001).map((seen) -> CallerContext.current()))).isEqualTo(ALICE);
		try (Lease held = this.registry.acquire(REQUEST)) {
			assertThat(subscribedElsewhere(this.stock.countOrElse(1001))).isEqualTo(ALICE);
		}
	}

	@Test
	void aListenerHasTheContextOfTheCallerOnTheThreadOfTheCallerOnly() {
		CallerContext.as("alice", () -> this.registry.acquire(REQUEST.withLeaseTime(SECOND)));
		assertThat(this.events).containsEntry(LockEvent.Acquired.class, ALICE);
		CallerContext.as("bob", () -> {
			this.time.advance(SECOND);
			return this.time;
		});
		Awaitility.await().until(() -> this.events.containsKey(LockEvent.Lost.class));
		assertThat(this.events).containsEntry(LockEvent.Lost.class, CallerContext.NONE);
		CallerContext.as("alice", () -> this.template.execute(REQUEST, Lease::fencingToken));
		assertThat(this.events).containsEntry(LockEvent.Released.class, ALICE);
		assertSeenByAlice(() -> this.stock.reserve(1001));
		assertThat(this.events).containsEntry(LockEvent.Released.class, CallerContext.NONE);
	}

	@Test
	void anApplicationEventHasNone() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(Application.class)) {
			LockRegistry registry = context.getBean(LockRegistry.class);
			Lease lease = CallerContext.as("alice", () -> registry.acquire(REQUEST.withLeaseTime(SECOND)));
			context.getBean(ManualTime.class).advance(SECOND);
			assertThat(context.getBean(Application.class).loss).succeedsWithin(PATIENCE).isEqualTo(CallerContext.NONE);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
		}
	}

	private void assertSeenByAlice(Supplier<CompletableFuture<CallerContext>> call) {
		assertThat(CallerContext.as("alice", call)).succeedsWithin(PATIENCE).isEqualTo(ALICE);
	}

	/**
	 * Subscribe to a publisher as Alice, on a thread without a context, and with her
	 * context as that of Reactor.
	 */
	private static CallerContext subscribedElsewhere(Mono<CallerContext> publisher) {
		return CallerContext.as("alice",
				() -> Objects
					.requireNonNull(publisher.subscribeOn(Schedulers.fromExecutor(ContextPropagationTests::onThread))
						.contextCapture()
						.block(PATIENCE)));
	}

	private static void onThread(Runnable task) {
		Thread thread = new Thread(null, task, "caller", 0, false);
		thread.start();
		try {
			thread.join();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static <T> CompletableFuture<T> forward(CompletableFuture<T> from, CompletableFuture<T> to) {
		return from.whenComplete((value, ex) -> to.complete(value));
	}

	private static CompletableFuture<CallerContext> after(CompletableFuture<? extends LeaseSet> future) {
		return future.thenApplyAsync((lease) -> {
			lease.close();
			return CallerContext.current();
		});
	}

	private CompletableFuture<CallerContext> seen(Object leaseOrReason) {
		return CompletableFuture.completedFuture(CallerContext.current());
	}

	private CompletableFuture<CallerContext> unexpected(Object leaseOrReason) {
		throw new AssertionError("Not expected: " + leaseOrReason);
	}

	private static void add(List<CallerContext> seen) {
		synchronized (seen) {
			seen.add(CallerContext.current());
		}
	}

	private static int size(List<CallerContext> seen) {
		synchronized (seen) {
			return seen.size();
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

	@Configuration(proxyBeanMethods = false)
	@EnableDistributedLocks
	static class Application {

		final CompletableFuture<CallerContext> loss = new CompletableFuture<>();

		@Bean
		ManualTime time() {
			return new ManualTime();
		}

		@Bean
		LockStore lockStore(ManualTime time) {
			return new MemoryLockStore(new LockMemory(time));
		}

		@EventListener
		void onLoss(LockEvent.Lost event) {
			this.loss.complete(CallerContext.current());
		}

	}

	static class Stock {

		@DistributedLock(name = "stock", key = "#productId")
		public CompletableFuture<CallerContext> reserve(long productId) {
			return CompletableFuture.completedFuture(CallerContext.current());
		}

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", fallback = "reserveElsewhere",
				onUnavailable = OnUnavailable.FALLBACK)
		public CompletableFuture<CallerContext> reserveOrElse(long productId) {
			throw new AssertionError();
		}

		CompletableFuture<CallerContext> reserveElsewhere(long productId, LockException reason) {
			return CompletableFuture.completedFuture(CallerContext.current());
		}

		@DistributedLock(name = "stock", key = "#productId")
		public Mono<CallerContext> count(long productId) {
			return Mono.just(CallerContext.current());
		}

		@DistributedLock(name = "stock", key = "#productId")
		public Flux<CallerContext> all(long productId) {
			return Flux.just(CallerContext.current());
		}

		@DistributedLock(name = "stock", key = "#productId")
		public Mono<CallerContext> later(long productId) {
			return Mono.just(productId)
				.publishOn(Schedulers.fromExecutor(ContextPropagationTests::onThread))
				.map((id) -> CallerContext.current());
		}

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", fallback = "countElsewhere",
				onUnavailable = OnUnavailable.FALLBACK)
		public Mono<CallerContext> countOrElse(long productId) {
			throw new AssertionError();
		}

		Mono<CallerContext> countElsewhere(long productId, LockException reason) {
			return Mono.just(CallerContext.current());
		}

	}

}
