// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.actuate.endpoint.SanitizableData;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnPersistenceContext;
import io.github.lockstarter.autoconfigure.LocksEndpoint.HeldDescriptor;
import io.github.lockstarter.autoconfigure.LocksEndpoint.HolderDescriptor;
import io.github.lockstarter.autoconfigure.LocksEndpoint.LocalDescriptor;
import io.github.lockstarter.autoconfigure.LocksEndpoint.LockDescriptor;
import io.github.lockstarter.autoconfigure.LocksEndpoint.WaitingDescriptor;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.engine.LocalState.Status;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.DelegatingStore;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.transaction.TransactionAwareLockRegistry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

/**
 * What the endpoint shows of locks, and which of them it frees.
 */
@ExtendWith(OutputCaptureExtension.class)
class LocksEndpointTests {

	private static final LockRequest STOCK = LockRequest.of("stock", 1001);

	private static final Duration LEASE = EngineSettings.DEFAULTS.leaseTime();

	private final ManualTime time = new ManualTime();

	private final LockMemory memory = new LockMemory(this.time);

	private final DefaultLockRegistry registry = registry("orders@web-1:7", new MemoryLockStore(this.memory));

	private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();

	private DefaultLockRegistry registry(String instance, LockStore store) {
		return new DefaultLockRegistry("memory", store, LockSettings.NONE,
				EngineSettings.DEFAULTS.withInstanceName(instance), LockListener.NO_OP, this.time);
	}

	/** The endpoint of an application with one registry, which is wrapped. */
	private LocksEndpoint endpoint(DefaultLockRegistry registry, SanitizingFunction... sanitizing) {
		this.beans.registerSingleton("locks", new TransactionAwareLockRegistry("locks", registry,
				OnActiveTransaction.DEFAULT, OnPersistenceContext.DEFAULT, LockListener.NO_OP));
		return new LocksEndpoint(() -> Map.of(registry.name(), registry),
				this.beans.getBeanProvider(LockRegistry.class), "orders@web-1:7", List.of(sanitizing),
				Show.WHEN_AUTHORIZED, Duration.ofMinutes(1));
	}

	private static LocalDescriptor here(LocksEndpoint endpoint, boolean showKeys) {
		return endpoint.locks(showKeys).registries().values().iterator().next();
	}

	@Test
	void itShowsWhatThisInstanceHoldsAndWaitsFor() throws Exception {
		LocksEndpoint endpoint = endpoint(this.registry);
		Lease lease = this.registry.acquire(STOCK);
		Callers.Call<Lease> call = Callers.start(() -> this.registry.acquire(STOCK)).awaitParked();
		this.time.advance(Duration.ofSeconds(3));
		LocalDescriptor here = here(endpoint, true);
		HeldDescriptor held = here.held().get(0);
		assertThat(held).isEqualTo(new HeldDescriptor("stock", "1001", LockMode.EXCLUSIVE,
				Long.toString(lease.fencingToken()), Thread.currentThread().getName(), held.since(),
				Duration.ofSeconds(3), held.remaining(), 0, Status.HELD));
		assertThat(held.remaining()).isBetween(LEASE.minusSeconds(4), LEASE.minusSeconds(3));
		WaitingDescriptor waiting = here.waiting().get(0);
		assertThat(waiting)
			.isEqualTo(new WaitingDescriptor("stock", "1001", LockMode.EXCLUSIVE, call.thread().getName(),
					waiting.since(), Duration.ofSeconds(3), Duration.ofSeconds(7), "orders@web-1:7"));
		assertThat(endpoint.locks(true).instance()).isEqualTo("orders@web-1:7");
		lease.close();
		call.get().close();
	}

	@Test
	void keysAreMaskedUnlessTheyAreShownAndASanitizingFunctionMasksThemEvenThen() {
		LocksEndpoint endpoint = endpoint(this.registry,
				(data) -> data.getKey().equals("customer") ? data.withSanitizedValue() : data);
		LeaseSet leases = this.registry
			.acquireAll(List.of(STOCK, LockRequest.of("customer", "ada@example.com"), LockRequest.of("report")));
		assertThat(here(endpoint, false).held()).extracting(HeldDescriptor::key)
			.containsExactlyInAnyOrder(SanitizableData.SANITIZED_VALUE, SanitizableData.SANITIZED_VALUE, null);
		assertThat(endpoint.locks(false).toString()).doesNotContain("1001", "ada");
		assertThat(here(endpoint, true).held()).extracting(HeldDescriptor::key)
			.containsExactlyInAnyOrder("1001", SanitizableData.SANITIZED_VALUE, null);
		// Over JMX, everybody is authorized
		assertThat(endpoint.locks()).asString().contains("1001");
		leases.close();
	}

	@Test
	void itSaysHowMuchItLeavesOut() {
		LocksEndpoint endpoint = endpoint(this.registry);
		int more = LocksEndpoint.LONGEST_LIST + 7;
		List<Lease> leases = IntStream.range(0, more)
			.mapToObj((key) -> this.registry.acquire(LockRequest.of("stock", key)))
			.toList();
		LocalDescriptor here = here(endpoint, true);
		assertThat(here.held()).hasSize(LocksEndpoint.LONGEST_LIST);
		assertThat(here.heldLeftOut()).isEqualTo(7);
		assertThat(here.waitingLeftOut()).isZero();
		List<CompletableFuture<Lease>> waiters = IntStream.range(0, more)
			.mapToObj((key) -> this.registry.acquireAsync(LockRequest.of("stock", key)))
			.toList();
		here = here(endpoint, true);
		assertThat(here.waiting()).hasSize(LocksEndpoint.LONGEST_LIST);
		assertThat(here.waitingLeftOut()).isEqualTo(7);
		leases.forEach(Lease::close);
		waiters.forEach((waiter) -> waiter.thenAccept(Lease::close).join());
	}

	@Test
	void itShowsWhatTheStoreSaysAboutALock() {
		LocksEndpoint endpoint = endpoint(this.registry);
		DefaultLockRegistry other = registry("orders@web-2:9", new MemoryLockStore(this.memory));
		Lease lease = other.acquire(STOCK);
		CompletableFuture<Lease> future = this.registry.acquireAsync(STOCK);
		this.time.advance(Duration.ofSeconds(3));
		LockDescriptor lock = body(endpoint.find("stock", "1001", null), 200);
		assertThat(lock.holders()).containsExactly(new HolderDescriptor("orders@web-2:9", LockMode.EXCLUSIVE,
				LEASE.minus(Duration.ofSeconds(3)), false, Long.toString(lease.fencingToken())));
		assertThat(lock.fencingToken()).isEqualTo(Long.toString(lease.fencingToken()));
		assertThat(lock.waiters()).containsExactly("orders@web-1:7");
		assertThat(lock.here().held()).isEmpty();
		assertThat(lock.here().waiting()).singleElement()
			.extracting(WaitingDescriptor::holder)
			.isEqualTo("orders@web-2:9");
		future.cancel(false);
		this.time.settle();
		lease.close();
		assertThat(endpoint.lock("stock", "1001", null).holders()).isEmpty();
		assertThat(body(endpoint.find("stock", null, "memory"), 200).fencingToken()).isNull();
	}

	@Test
	void itNeverShowsTheRandomHalfOfAnOwnerAndOnlyTheBeginningOfAForeignOne() {
		LocksEndpoint endpoint = endpoint(this.registry);
		MemoryLockStore elsewhere = new MemoryLockStore(this.memory);
		OwnerToken owner = OwnerToken.random("orders@web-2:9", LockMode.EXCLUSIVE);
		OwnerToken foreign = new OwnerToken("4711-secret-of-a-go-service", LockMode.EXCLUSIVE);
		elsewhere.acquire(new LeaseRequest(STOCK.key(), owner, LEASE), false);
		elsewhere.acquire(new LeaseRequest(LockKey.of("go"), foreign, LEASE), false);
		assertThat(endpoint.lock("stock", "1001", null)).asString()
			.contains("orders@web-2:9")
			.doesNotContain(owner.value().substring(owner.value().lastIndexOf('.') + 1));
		assertThat(endpoint.lock("go", null, null)).asString()
			.contains("a foreign owner '4711…'")
			.doesNotContain("secret");
		this.memory.clear();
	}

	@Test
	void theShownTokenFreesALock(CapturedOutput output) {
		LocksEndpoint endpoint = endpoint(this.registry);
		DefaultLockRegistry stuck = registry("orders@web-2:9", new MemoryLockStore(this.memory));
		Lease lost = stuck.acquire(STOCK);
		long token = Long.parseLong(body(endpoint.find("stock", "1001", null), 200).fencingToken());
		assertThat(body(endpoint.release("stock", "1001", "" + (token - (1 << 12)), null), 409).holders()).hasSize(1);
		assertThat(lost.isHeld()).isTrue();
		assertThat(body(endpoint.release("stock", "1001", "" + token, null), 200).message()).contains("was freed");
		assertThat(output).contains("Lock 'stock:1001' of the registry 'memory' with the fencing token " + token
				+ " was freed by the endpoint");
		try (Lease next = this.registry.acquire(STOCK.withWaitTime(Duration.ZERO))) {
			assertThat(next.fencingToken()).isGreaterThan(token);
			assertThat(body(endpoint.release("stock", "1001", "" + token, null), 409).message()).contains("not freed");
			this.time.advance(LEASE.dividedBy(2));
			assertThat(lost.isHeld()).isFalse();
			assertThat(next.isHeld()).isTrue();
		}
		assertThat(body(endpoint.release("stock", "1001", "" + token, null), 404).message()).contains("Nobody holds");
		assertThat(endpoint.free("other", null, "" + token, null).message()).contains("Nobody holds");
	}

	@Test
	void anOwnerOfThisInstanceLearnsOfItAtOnce() {
		Lease lost = this.registry.acquire(STOCK);
		body(endpoint(this.registry).release("stock", "1001", Long.toString(lost.fencingToken()), null), 200);
		assertThat(lost.isHeld()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lost::close);
	}

	@Test
	void theTokenOfOneReaderFreesTheLockFromThatOneOnly() {
		LocksEndpoint endpoint = endpoint(this.registry);
		DefaultLockRegistry other = registry("orders@web-2:9", new MemoryLockStore(this.memory));
		Lease stuck = other.acquire(STOCK.withMode(LockMode.READ));
		Lease lease = this.registry.acquire(STOCK.withMode(LockMode.READ));
		assertThat(endpoint.lock("stock", "1001", null).holders())
			.extracting(HolderDescriptor::instance, HolderDescriptor::fencingToken)
			.containsExactlyInAnyOrder(tuple("orders@web-2:9", Long.toString(stuck.fencingToken())),
					tuple("orders@web-1:7", Long.toString(lease.fencingToken())));
		LockDescriptor freed = body(endpoint.release("stock", "1001", "" + stuck.fencingToken(), null), 200);
		assertThat(freed.holders()).singleElement().extracting(HolderDescriptor::instance).isEqualTo("orders@web-1:7");
		freed = body(endpoint.release("stock", "1001", "" + lease.fencingToken(), null), 200);
		assertThat(freed.holders()).isEmpty();
		this.time.advance(LEASE);
		assertThat(stuck.isHeld() || lease.isHeld()).isFalse();
	}

	@Test
	void aStoreThatMayBlockDoesNotBlockTheCaller() {
		List<Thread> asked = new CopyOnWriteArrayList<>();
		DefaultLockRegistry blocking = registry("orders@web-1:7",
				new FaultInjectingStore(new DelegatingStore(new MemoryLockStore(this.memory)) {

					@Override
					protected <T> CompletionStage<T> ask(Request kind, Supplier<CompletionStage<T>> request) {
						asked.add(Thread.currentThread());
						return super.ask(kind, request);
					}

				}));
		LocksEndpoint endpoint = endpoint(blocking);
		body(endpoint.find("stock", "1001", null), 200);
		body(endpoint.release("stock", "1001", "1", null), 404);
		assertThat(asked).hasSize(3).doesNotContain(Thread.currentThread());
	}

	@Test
	void itAnswersToWhatItCannotDo() {
		LocksEndpoint endpoint = endpoint(this.registry);
		assertThat(body(endpoint.find("stock", null, "redis"), 404).message()).contains("'redis'", "[memory]");
		assertThat(body(endpoint.find("st ock", null, null), 400).message()).contains("'name' must be");
		assertThat(body(endpoint.release("stock", " ", "1", null), 400).message()).contains("must not be blank");
	}

	@Test
	void itSaysThatAStoreDoesNotShowItsLocks() {
		DefaultLockRegistry silent = registry("orders@web-1:7", new DelegatingStore(new MemoryLockStore(this.memory)) {
			@Override
			public Optional<LockInspection> inspection() {
				return Optional.empty();
			}
		});
		LocksEndpoint endpoint = endpoint(silent);
		Lease lease = silent.acquire(STOCK);
		LockDescriptor lock = body(endpoint.find("stock", "1001", null), 200);
		assertThat(lock.message()).contains("does not show who holds a lock");
		assertThat(lock.holders()).isNull();
		assertThat(lock.here().held()).hasSize(1);
		assertThat(body(endpoint.release("stock", "1001", "" + lease.fencingToken(), null), 501).message())
			.contains("frees none");
		lease.close();
	}

	@Test
	void itSaysThatAStoreDoesNotAnswer() {
		FaultInjectingStore broken = new FaultInjectingStore(new MemoryLockStore(this.memory));
		broken.inspect.loseRequests(() -> true);
		LocksEndpoint endpoint = endpoint(registry("orders@web-1:7", broken));
		assertThat(body(endpoint.find("stock", "1001", null), 503).message())
			.isEqualTo("The store cannot be asked: request lost");
		assertThat(body(endpoint.release("stock", "1001", "1", null), 503).message()).contains("outcome is not known");
	}

	private static LockDescriptor body(WebEndpointResponse<LockDescriptor> response, int status) {
		assertThat(response.getStatus()).as("%s", response.getBody()).isEqualTo(status);
		return response.getBody();
	}

	@Test
	void anApplicationHasItIfItIsExposed() {
		ApplicationContextRunner application = new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(DataRedisAutoConfiguration.class, DistributedLockAutoConfiguration.class,
							LocksEndpointAutoConfiguration.class, LocksHealthContributorAutoConfiguration.class))
			.withBean("shelves", LockStore.class, MemoryLockStore::new);
		application.run((context) -> assertThat(context).doesNotHaveBean(LocksEndpoint.class));
		ApplicationContextRunner exposed = application.withPropertyValues("management.endpoints.web.exposure.include=*",
				"distributed-lock.instance-name=orders@web-1:7");
		exposed.run((context) -> {
			assertThat(context.getBean(LocksEndpoint.class).locks().instance()).isEqualTo("orders@web-1:7");
			assertThat(context.getBean(LocksEndpoint.class).locks().registries()).containsOnlyKeys("shelves");
			// To look at the registry of another kind would connect to its servers
			assertThat(context.getBeanFactory().containsSingleton("redisLockRegistry")).isFalse();
			context.getBean("redisLockRegistry");
			assertThat(context.getBean(LocksEndpoint.class).locks().registries()).containsOnlyKeys("redis", "shelves");
		});
		exposed.withPropertyValues("management.endpoint.locks.access=NONE")
			.run((context) -> assertThat(context).doesNotHaveBean(LocksEndpoint.class)
				.doesNotHaveBean(LocksEndpointWebExtension.class)
				.hasSingleBean(LocksHealthContributor.class));
	}

	/** As Spring Boot reads them: without loading them. */
	@Test
	void anApplicationWithoutActuatorHasNothingOfIt() {
		new ApplicationContextRunner().withUserConfiguration(WithoutActuator.class)
			.withPropertyValues("distributed-lock.store=memory", "management.endpoints.web.exposure.include=*")
			.withClassLoader(
					new FilteredClassLoader("org.springframework.boot.actuate", "org.springframework.boot.health"))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasBean("distributedLockRegistry")
				.satisfies((started) -> assertThat(started.getBeanDefinitionNames())
					.noneMatch((name) -> name.matches("(?i).*(LocksEndpointAuto|LocksHealth|LockEndpoint).*"))));
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DistributedLockAutoConfiguration.class, LocksEndpointAutoConfiguration.class,
			LocksHealthContributorAutoConfiguration.class })
	static class WithoutActuator {

	}

}
