// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ThreadLocalAccessor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.memory.MemoryLockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The context of a caller on other threads.
 */
class CallContextTests {

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private static final List<LockRequest> BOTH = List.of(REQUEST, LockRequest.of("stock", 1002));

	private final Tenants tenants = new Tenants("tenant");

	private final Tenants broken = new Tenants("broken");

	private final DefaultLockRegistry registry = new DefaultLockRegistry(new MemoryLockStore());

	@BeforeEach
	void register() {
		ContextRegistry.getInstance().registerThreadLocalAccessor(this.tenants);
	}

	@AfterEach
	void nothingIsLeft() {
		ContextRegistry.getInstance().removeThreadLocalAccessor(this.tenants.key());
		ContextRegistry.getInstance().removeThreadLocalAccessor(this.broken.key());
		this.tenants.value.remove();
		EngineProbe.closeWhenIdle(this.registry);
	}

	@Test
	void aTaskHasTheContextOfItsCallerAndItsThreadGetsItsOwnBack() {
		List<@Nullable String> seen = new ArrayList<>();
		Runnable task = () -> seen.add(this.tenants.value.get());
		this.tenants.value.set("caller");
		Executor withContext = CallContext.capture().on(Runnable::run);
		this.tenants.value.remove();
		Executor withoutContext = CallContext.capture().on(Runnable::run);
		this.tenants.value.set("thread");
		withContext.execute(task);
		task.run();
		withoutContext.execute(task);
		task.run();
		this.tenants.value.remove();
		withContext.execute(task);
		task.run();
		assertThat(seen).containsExactly("caller", "thread", null, "thread", "caller", null);
	}

	@Test
	void aTaskThatFailsLeavesNothingOnItsThread() {
		this.tenants.value.set("caller");
		Executor withContext = CallContext.capture().on(Runnable::run);
		this.tenants.value.remove();
		assertThatIllegalStateException().isThrownBy(() -> withContext.execute(() -> {
			throw new IllegalStateException();
		}));
		assertThat(this.tenants.value.get()).isNull();
	}

	@Test
	void callersThatRunTheirCodeThemselvesPayNothing() throws Exception {
		this.tenants.value.set("caller");
		LockTemplate template = new LockTemplate(this.registry);
		template.execute(REQUEST, Lease::fencingToken);
		template.execute(BOTH, (leases) -> leases.all().size());
		this.registry.acquire(REQUEST).close();
		this.registry.tryAcquire(REQUEST).orElseThrow().close();
		this.registry.acquireAll(BOTH).close();
		this.registry.lock(REQUEST.key()).lock();
		this.registry.lock(REQUEST.key()).unlock();
		assertThat(this.tenants.captures).hasValue(0);
	}

	@Test
	void aCallIsCapturedOnce() {
		this.tenants.value.set("caller");
		CompletableFuture<Boolean> result;
		try (Lease lease = this.registry.acquire(REQUEST)) {
			result = new LockTemplate(this.registry).executeAsync(REQUEST, (body) -> {
				this.tenants.captures.set(0);
				return CompletableFuture.completedFuture(body.isHeld());
			});
			assertThat(this.tenants.captures).hasValue(1);
		}
		assertThat(result).succeedsWithin(PATIENCE).isEqualTo(true);
		assertThat(this.tenants.captures).hasValue(0);
	}

	@Test
	void aContextThatCannotBeSetLeavesNoLockBehindAndNothingOnTheThread() {
		ContextRegistry.getInstance().registerThreadLocalAccessor(this.broken);
		this.tenants.value.set("caller");
		this.broken.value.set("caller");
		this.broken.unsettable = true;
		AtomicReference<@Nullable String> seen = new AtomicReference<>("nothing");
		CompletableFuture<Long> token = new LockTemplate(this.registry).executeAsync(REQUEST, (lease) -> {
			seen.set(this.tenants.value.get());
			return CompletableFuture.completedFuture(lease.fencingToken());
		});
		assertThat(token).succeedsWithin(PATIENCE).satisfies((value) -> assertThat(value).isPositive());
		assertThat(seen).hasNullValue();
	}

	@Test
	void aContextThatCannotBeReadFailsTheCallBeforeTheLockIsAcquired() {
		ContextRegistry.getInstance().registerThreadLocalAccessor(this.broken);
		this.broken.unreadable = true;
		LockTemplate template = new LockTemplate(this.registry);
		assertThatIllegalStateException().isThrownBy(() -> template.executeAsync(REQUEST, this::unexpected));
		assertThatIllegalStateException().isThrownBy(() -> template.executeAsync(BOTH, this::unexpected));
		assertThat(this.registry.activeLocks()).isZero();
	}

	@Test
	void theThreadsOfALibraryInheritNothingFromACallerExceptItsClassLoader() {
		InheritableThreadLocal<String> inheritable = new InheritableThreadLocal<>();
		inheritable.set("caller");
		ClassLoader loader = new ClassLoader(getClass().getClassLoader()) {
		};
		ClassLoader before = Thread.currentThread().getContextClassLoader();
		Thread.currentThread().setContextClassLoader(loader);
		try {
			CompletableFuture<ClassLoader> ofBody = new LockTemplate(this.registry).executeAsync(REQUEST, (lease) -> {
				assertThat(inheritable.get()).isNull();
				return CompletableFuture.completedFuture(Thread.currentThread().getContextClassLoader());
			});
			assertThat(ofBody).succeedsWithin(PATIENCE).isSameAs(loader);
		}
		finally {
			Thread.currentThread().setContextClassLoader(before);
		}
	}

	@Test
	void theThreadsOfCallbacksInheritTheClassLoaderOfACaller() throws Exception {
		ClassLoader loader = new ClassLoader(getClass().getClassLoader()) {
		};
		ClassLoader before = Thread.currentThread().getContextClassLoader();
		Thread.currentThread().setContextClassLoader(loader);
		try (EngineThreads threads = new EngineThreads(Time.SYSTEM)) {
			assertThat(CompletableFuture
				.supplyAsync(() -> Thread.currentThread().getContextClassLoader(), threads.callbacks())
				.get()).isSameAs(loader);
		}
		finally {
			Thread.currentThread().setContextClassLoader(before);
		}
	}

	private <T> CompletableFuture<T> unexpected(Object lease) {
		throw new AssertionError("The body must not run");
	}

	private static final class Tenants implements ThreadLocalAccessor<String> {

		final ThreadLocal<@Nullable String> value = new ThreadLocal<>();

		final AtomicInteger captures = new AtomicInteger();

		private final String key;

		volatile boolean unreadable;

		volatile boolean unsettable;

		Tenants(String key) {
			this.key = key;
		}

		@Override
		public Object key() {
			return this.key;
		}

		@Override
		public @Nullable String getValue() {
			if (this.unreadable) {
				throw new IllegalStateException("unreadable");
			}
			this.captures.incrementAndGet();
			return this.value.get();
		}

		@Override
		public void setValue(String value) {
			if (this.unsettable) {
				throw new IllegalStateException("unsettable");
			}
			this.value.set(value);
		}

		@Override
		public void setValue() {
			this.value.remove();
		}

	}

}
