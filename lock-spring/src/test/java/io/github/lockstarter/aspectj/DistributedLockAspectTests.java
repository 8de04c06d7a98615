// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.aspectj;

import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.interceptor.LockDefinitionSource;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.testsupport.WeavingClassLoader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for classes that the load-time weaver of AspectJ weaves with the {@code aop.xml}
 * of the library.
 */
class DistributedLockAspectTests {

	private final List<LockKey> acquired = new ArrayList<>();

	private final LockMemory memory = new LockMemory();

	private final DefaultLockRegistry registry = new DefaultLockRegistry(new MemoryLockStore(this.memory),
			EngineSettings.DEFAULTS, (event) -> {
				if (event instanceof LockEvent.Acquired) {
					this.acquired.add(event.key());
				}
			});

	private final DefaultLockRegistry other = new DefaultLockRegistry(new MemoryLockStore(this.memory),
			EngineSettings.DEFAULTS, (event) -> {
			});

	private final DistributedLockWeaving weaving = locking(this.registry);

	private final WeavingClassLoader loader = WeavingClassLoader.of(WovenStock.class, WovenClassOfLocks.class,
			WovenSubclass.class, Proxy$$SpringCGLIB$$0.class);

	private final Stock stock = this.loader.create(Stock.class, WovenStock.class);

	@BeforeEach
	void open() {
		DistributedLockAspect.aspectOf().enter(this.weaving);
	}

	@AfterEach
	void close() {
		this.weaving.destroy();
		this.registry.close();
		this.other.close();
	}

	@Test
	void anotherAnnotationMayStandForSeveralLocks() {
		assertThat(this.stock.both()).isEqualTo(2);
	}

	@Test
	void repeatedAnnotationsAreLocksThatAreTakenTogether() {
		assertThat(this.stock.move(1002, 1001)).isTrue();
		assertThat(this.acquired).containsExactly(LockKey.of("stock", 1001), LockKey.of("stock", 1002));
	}

	@Test
	void aMethodThatReturnsAFutureIsLockedUntilItsEnd() {
		List<CompletableFuture<Long>> calls = IntStream.range(0, 50).mapToObj((i) -> this.stock.later(1001)).toList();
		assertThat(calls.stream().map(CompletableFuture::join)).hasSize(50).doesNotHaveDuplicates();
		Awaitility.await().until(this.memory::isEmpty);
	}

	@Test
	void callsOfABeanToItsOwnPrivateAndFinalMethodsAreLocked() {
		assertThat(this.stock.deductAll(1001)).isEqualTo("deducted 1001, booked 1001, counted");
		assertThat(this.acquired).containsExactly(LockKey.of("stock", 1001), LockKey.of("booking", 1001),
				LockKey.of("DistributedLockAspectTests.WovenStock.count"));
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void theBodyDoesNotRunWhileSomebodyElseHoldsTheLock() {
		try (Lease held = this.other.acquire(LockRequest.of("booking", 1001))) {
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> this.stock.deductAll(1001));
			assertThat(this.stock.fallBack(1001)).isEqualTo("instead of 1001");
		}
		assertThat(this.stock.fallBack(1001)).isEqualTo("done");
	}

	@Test
	void whatTheBodyThrowsReachesTheCaller() {
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> this.stock.fail()).withMessage("out of order");
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void aNestedCallForTheSameLockIsReentrant() {
		assertThat(this.stock.nest(1001)).isEqualTo("booked 1001");
		assertThat(this.acquired).containsExactly(LockKey.of("booking", 1001));
	}

	@Test
	void annotationsOfAnnotationsAreSeen() {
		this.stock.once();
		this.stock.twice();
		assertThat(this.acquired).containsExactly(LockKey.of("meta"), LockKey.of("meta"));
	}

	@Test
	void theAnnotationOfAClassAppliesToItsPublicMethodsAndThoseOfSubclasses() {
		this.loader.create(Runnable.class, WovenClassOfLocks.class).run();
		Runnable subclass = this.loader.create(Runnable.class, WovenSubclass.class);
		subclass.run();
		assertThat(this.acquired).containsExactly(LockKey.of("class"), LockKey.of("class"));
		this.acquired.clear();
		ProxyFactory factory = new ProxyFactory(subclass);
		factory.setProxyTargetClass(true);
		((Runnable) factory.getProxy(this.loader)).run();
		assertThat(this.acquired).containsExactly(LockKey.of("class"));
	}

	@Test
	void proxiesAndNestedClassesOfAnAnnotatedClassAreNotWoven() {
		assertThat(this.loader.woven(WovenClassOfLocks.class).getDeclaredFields()).isNotEmpty();
		assertThat(this.loader.woven(WovenClassOfLocks.Nested.class).getDeclaredFields()).isEmpty();
		assertThat(this.loader.woven(Proxy$$SpringCGLIB$$0.class).getDeclaredFields()).isEmpty();
	}

	@Test
	void withoutAnApplicationContextTheBodyDoesNotRun() {
		this.weaving.destroy();
		assertThatIllegalStateException().isThrownBy(() -> this.stock.fallBack(1001))
			.withMessageContaining("WovenStock.fallBack(long)' is woven with @DistributedLock")
			.withMessageContaining("nothing was executed");
	}

	@Test
	void whereProxiesLockTheAspectStandsAside() {
		this.weaving.destroy();
		DistributedLockWeaving proxies = DistributedLockWeaving.standingAside();
		proxies.postProcessBeanFactory(new DefaultListableBeanFactory());
		assertThat(this.stock.fallBack(1001)).isEqualTo("done");
		assertThat(this.acquired).isEmpty();
		proxies.destroy();
	}

	@Test
	void theNewestContextGivesTheLocksUntilItIsClosed() {
		DistributedLockWeaving newest = locking(this.other);
		DistributedLockAspect.aspectOf().enter(newest);
		this.stock.once();
		assertThat(this.acquired).isEmpty();
		newest.destroy();
		this.stock.once();
		assertThat(this.acquired).containsExactly(LockKey.of("meta"));
	}

	@Test
	void contextsWithDifferentAdviceModesCannotBothBeOpen() {
		DistributedLockWeaving proxies = DistributedLockWeaving.standingAside();
		assertThatIllegalStateException()
			.isThrownBy(() -> proxies.postProcessBeanFactory(new DefaultListableBeanFactory()))
			.withMessageContaining("a different distributed-lock.advice-mode");
		this.stock.once();
		assertThat(this.acquired).containsExactly(LockKey.of("meta"));
	}

	private static DistributedLockWeaving locking(DefaultLockRegistry registry) {
		return DistributedLockWeaving.locking(new LockDefinitionSource(new DefaultListableBeanFactory()),
				(name) -> registry);
	}

	public interface Stock {

		String deductAll(long id);

		String fallBack(long id);

		String nest(long id);

		void fail() throws IOException;

		void once();

		void twice();

		boolean move(long from, long to);

		int both();

		CompletableFuture<Long> later(long id);

	}

	@DistributedLock(name = "meta")
	@Retention(RetentionPolicy.RUNTIME)
	public @interface Once {

	}

	@DistributedLock(name = "one")
	@DistributedLock(name = "other")
	@Retention(RetentionPolicy.RUNTIME)
	public @interface Both {

	}

	@Once
	@Retention(RetentionPolicy.RUNTIME)
	public @interface Twice {

	}

	public static class WovenStock implements Stock {

		@Override
		public String deductAll(long id) {
			return deduct(id) + ", " + book(id) + ", " + count();
		}

		@DistributedLock(name = "stock", key = "#id")
		public String deduct(long id) {
			return "deducted " + Lease.current().key().key();
		}

		@DistributedLock(name = "booking", key = "#id", waitTime = "0s")
		private String book(long id) {
			return Lease.current().isHeld() ? "booked " + id : "not locked";
		}

		@DistributedLock
		public final String count() {
			return "counted";
		}

		@Override
		@DistributedLock(name = "booking", key = "#id", waitTime = "0s", fallback = "insteadOf")
		public String fallBack(long id) {
			return "done";
		}

		@Override
		@DistributedLock(name = "booking", key = "#id")
		public String nest(long id) {
			return book(id);
		}

		@Override
		@DistributedLock
		public void fail() throws IOException {
			throw new IOException("out of order");
		}

		@Override
		@Once
		public void once() {
		}

		@Override
		@Twice
		public void twice() {
		}

		@Override
		@DistributedLock(name = "stock", key = "#from")
		@DistributedLock(name = "stock", key = "#to")
		public boolean move(long from, long to) {
			return LeaseSet.current().all().size() == 2;
		}

		@Override
		@Both
		public int both() {
			return LeaseSet.current().all().size();
		}

		@Override
		@DistributedLock(name = "stock", key = "#id")
		public CompletableFuture<Long> later(long id) {
			return CompletableFuture.supplyAsync(Lease.current()::fencingToken);
		}

		private String insteadOf(long id) {
			return "instead of " + id;
		}

	}

	@DistributedLock(name = "class")
	public static class WovenClassOfLocks implements Runnable {

		@Override
		public void run() {
			inPackage();
		}

		void inPackage() {
		}

		public static class Nested {

			public void run() {
			}

		}

	}

	/** Named like a proxy of Spring. */
	public static class Proxy$$SpringCGLIB$$0 extends WovenClassOfLocks {

		@Override
		public void run() {
		}

	}

	public static class WovenSubclass extends WovenClassOfLocks {

		@Override
		public void run() {
			super.run();
		}

	}

}
