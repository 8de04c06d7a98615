// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;

import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.OnContention;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.OnUnavailable;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.testsupport.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class DistributedLockInterceptorTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private final ManualTime time = new ManualTime();

	private final LockMemory memory = new LockMemory(this.time);

	private final FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(this.memory));

	private final DefaultLockRegistry registry = new DefaultLockRegistry(this.store, EngineSettings.DEFAULTS,
			LockListener.NO_OP, this.time);

	private final DefaultLockRegistry other = new DefaultLockRegistry(new MemoryLockStore(this.memory),
			EngineSettings.DEFAULTS, LockListener.NO_OP, this.time);

	private final DistributedLockAdvisor advisor = new DistributedLockAdvisor(
			new LockDefinitionSource(new DefaultListableBeanFactory()), (name) -> this.registry);

	private final Stock target = new Stock(this.other);

	private final Stock stock = proxy(this.target);

	@AfterEach
	void close() {
		this.registry.close();
		this.other.close();
	}

	@Test
	void theBodyRunsUnderItsLockWhichIsReleasedAfterwards() {
		assertThat(this.stock.deduct(1001)).isEqualTo("done");
		assertThat(this.target.lockedByOthersInside).containsExactly(true);
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@ParameterizedTest
	@MethodSource
	void anAnnotationIsSeenHoweverManyMetaAnnotationsItIsAway(Supplier<LockKey> target) {
		assertThat(proxy(target).get()).isEqualTo(LockKey.of("meta"));
	}

	static Stream<Supplier<LockKey>> anAnnotationIsSeenHoweverManyMetaAnnotationsItIsAway() {
		return Stream.of(new Meta.OnceOnMethod(), new Meta.ThriceOnMethod(), new Meta.OnceOnClass(),
				new Meta.ThriceOnClass(), new Meta.OfMethodOfInterface(), new Meta.OfMethodOfAnotherInterface(),
				new Meta.OfInterface());
	}

	@Test
	void theLockIsReleasedWhenTheBodyThrows() {
		assertThatIllegalStateException().isThrownBy(() -> this.stock.fail(1001)).withMessage("out of order");
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void aLockThatIsHeldAtLeastForSomeTimeLetsTheNextCallBeSkipped() {
		assertThat(this.stock.once(1001)).hasValue("done");
		assertThat(this.stock.once(1001)).isEmpty();
		assertThat(this.stock.once(1002)).hasValue("done");
	}

	@Test
	void aBodyWithSeveralKeysRunsUnderAllTheirLocks() {
		assertThat(this.stock.deductAll(List.of(1002L, 1001L))).containsExactly("1001", "1002");
		assertThat(this.target.lockedByOthersInside).containsExactly(true, true);
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void aBodyWithSeveralKeysDoesNotRunWhileOneOfThemIsHeld() {
		try (Lease held = this.other.acquire(LockRequest.of(KEY))) {
			assertThat(this.stock.deductAll(List.of(1002L, 1001L))).isEmpty();
			assertThat(this.stock.move(1001, 1002)).isNull();
			assertThat(this.stock.move(1003, 1002)).isEqualTo("done");
		}
	}

	@Test
	void aMethodWithSeveralLocksHasASetOfLeasesAndNoSingleOne() {
		assertThat(this.stock.leasesOf(List.of(1002L, 1001L))).containsExactly("1001", "1002");
		assertThat(this.stock.leasesOf(List.of(1001L))).containsExactly("1001");
		assertThatIllegalStateException().isThrownBy(() -> this.stock.currentOf(List.of(1001L)))
			.withMessage("There is no single current lease, as the locks of this method or LockTemplate are"
					+ " acquired as a set; use LeaseSet.current()");
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void theLeaseOfOneLockIsASetAsWell() {
		assertThat(this.stock.leaseOf(1001)).containsExactly("1001");
	}

	@Test
	void severalAnnotationsWithCollectionsOfKeysWaitForAsLongAsTheySay() {
		try (Lease held = this.other.acquire(LockRequest.of(KEY))) {
			assertThatExceptionOfType(LockContendedException.class)
				.isThrownBy(() -> this.time.letPass(() -> this.stock.moveAll(List.of(1001L), List.of(1002L))))
				.satisfies((ex) -> assertThat(ex.getWaited()).isEqualTo(Duration.ofSeconds(5)));
		}
		this.stock.moveAll(List.of(1001L), List.of(1002L));
		assertThat(this.target.lockedByOthersInside).containsExactly(true, true);
	}

	@Test
	void aBodyWithRepeatedAnnotationsRunsUnderAllTheirLocks() {
		assertThat(this.stock.move(1001, 1002)).isEqualTo("done");
		assertThat(this.target.lockedByOthersInside).containsExactly(true, true);
		assertThat(this.stock.move(1001, 1001)).isEqualTo("done");
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	@ExtendWith(CapturedLog.Extension.class)
	void aSkippedCallIsALineOfTheLog(CapturedLog log) {
		Logger logger = Logger.getLogger(LockOperation.class.getName());
		logger.setLevel(Level.FINE);
		try (Lease held = this.other.acquire(LockRequest.of(KEY))) {
			this.stock.skipVoid(1001);
			assertThat(log).contains("Skipped '")
				.contains("$Stock.skipVoid(long)': Lock 'stock:1001' did not become free");
		}
		finally {
			logger.setLevel(null);
		}
	}

	@Test
	void theBodyDoesNotRunWhileSomebodyElseHoldsTheLock() {
		try (Lease held = this.other.acquire(LockRequest.of(KEY))) {
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> this.stock.deduct(1001));
			assertThat(this.stock.skipObject(1001)).isNull();
			assertThat(this.stock.skipOptional(1001)).isEmpty();
			assertThat(this.stock.skipOptionalInt(1001)).isEmpty();
			this.stock.skipVoid(1001);
			assertThat(this.stock.fallBack(1001)).isEqualTo("instead of 1001");
			assertThat(this.target.lockedByOthersInside).isEmpty();
			assertThat(this.stock.deduct(1002)).isEqualTo("done");
		}
	}

	@Test
	void aSkippedCallThroughAGenericInterfaceReturnsWhatTheMethodOfTheClassWould() {
		ProxyFactory factory = new ProxyFactory(new OptionalFinder());
		factory.addAdvisor(this.advisor);
		@SuppressWarnings("unchecked")
		Finder<Optional<String>> finder = (Finder<Optional<String>>) factory.getProxy();
		try (Lease held = this.other.acquire(LockRequest.of("finder", 1))) {
			assertThat(finder.find()).isEmpty();
		}
		assertThat(finder.find()).hasValue("found");
	}

	@Test
	void theRegistryLearnsWhetherACallIsSkippedIfItsLockIsContended() {
		List<LockRequest> requests = new ArrayList<>();
		MethodInterceptor recorder = (invocation) -> {
			Stream.of(invocation.getArguments())
				.filter(LockRequest.class::isInstance)
				.map(LockRequest.class::cast)
				.forEach(requests::add);
			return AopUtils.invokeJoinpointUsingReflection(this.registry, invocation.getMethod(),
					invocation.getArguments());
		};
		LockRegistry recorded = ProxyFactory.getProxy(LockRegistry.class, recorder);
		ProxyFactory factory = new ProxyFactory(this.target);
		factory.setProxyTargetClass(true);
		factory.addAdvisor(new DistributedLockAdvisor(new LockDefinitionSource(new DefaultListableBeanFactory()),
				(name) -> recorded));
		Stock stock = (Stock) factory.getProxy();
		stock.deduct(1001);
		stock.once(1002);
		assertThat(requests).extracting((request) -> Objects.requireNonNull(request.body()).skips())
			.containsExactly(false, true);
	}

	@Test
	void theFallbackGetsTheArgumentsAndTheReason() {
		try (Lease held = this.other.acquire(LockRequest.of(KEY))) {
			assertThat(this.stock.reserve(1001, 2)).isEqualTo("2 of 1001: LockContendedException of stock:1001");
			assertThat(this.stock.reserveUnlessContended(1001)).isEqualTo("contention for 1001");
			assertThat(this.stock.find(1001)).hasValue("instead of 1001");
		}
		this.store.acquire.loseRequests(() -> true);
		assertThat(this.stock.reserve(1001, 2)).isEqualTo("2 of 1001: LockUnavailableException of stock:1001");
		assertThat(this.stock.find(1001)).hasValue("instead of 1001");
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.stock.reserveUnlessContended(1001));
		assertThat(this.target.lockedByOthersInside).isEmpty();
	}

	@Test
	void anErrorOfTheFallbackReachesTheCaller() {
		try (Lease held = this.other.acquire(LockRequest.of(KEY))) {
			assertThatExceptionOfType(IOException.class).isThrownBy(() -> this.stock.fallBackBadly(1001));
		}
	}

	@Test
	void theBodyDoesNotRunWhenTheStoreCannotBeAsked() {
		this.store.acquire.loseRequests(() -> true);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.stock.deduct(1001));
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.stock.skipObject(1001));
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.stock.fallBack(1001));
		assertThat(this.target.lockedByOthersInside).isEmpty();
	}

	@Test
	void theBodyDoesNotRunWithoutAKey() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.stock.byName(null))
			.withMessageContaining("'#name', is null");
		assertThatIllegalArgumentException().isThrownBy(() -> this.stock.deductAll(List.of()))
			.withMessageContaining("is empty, so there is nothing to lock");
		assertThat(this.target.lockedByOthersInside).isEmpty();
	}

	@Test
	void theLeaseIsTheCurrentOneInsideTheBodyOnly() {
		assertThat(this.stock.token(1001)).isPositive();
		assertThatIllegalStateException().isThrownBy(Lease::current);
	}

	@Test
	void aParameterOfTypeLeaseHasWhatTheCallerPasses() {
		assertThat(this.stock.passed(1001, null)).isNull();
		try (Lease lease = this.registry.acquire(LockRequest.of("other"))) {
			assertThat(this.stock.passed(1001, lease)).isSameAs(lease);
		}
	}

	@Test
	void aLossInsideTheBodyFollowsItsPolicy() {
		this.target.inside = this.memory::clear;
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.stock.deduct(1001));
		assertThat(this.stock.carryOn(1001)).isEqualTo("done");
	}

	@SuppressWarnings("unchecked")
	private <T> T proxy(T target) {
		ProxyFactory factory = new ProxyFactory(target);
		factory.setProxyTargetClass(true);
		factory.addAdvisor(this.advisor);
		return (T) factory.getProxy();
	}

	/**
	 * Methods that return their lock, with annotations of annotations.
	 */
	static class Meta implements Supplier<LockKey> {

		@Override
		public LockKey get() {
			return Lease.current().key();
		}

		@DistributedLock(name = "meta")
		@Retention(RetentionPolicy.RUNTIME)
		@interface Once {

		}

		@Once
		@Retention(RetentionPolicy.RUNTIME)
		@interface Twice {

		}

		@Twice
		@Retention(RetentionPolicy.RUNTIME)
		@interface Thrice {

		}

		static class OnceOnMethod extends Meta {

			@Override
			@Once
			public LockKey get() {
				return super.get();
			}

		}

		static class ThriceOnMethod extends Meta {

			@Override
			@Thrice
			public LockKey get() {
				return super.get();
			}

		}

		@Once
		static class OnceOnClass extends Meta {

		}

		@Thrice
		static class ThriceOnClass extends Meta {

		}

		static class OfMethodOfAnotherInterface extends Meta implements WithMethod {

		}

		interface WithMethod {

			@Thrice
			LockKey get();

		}

		static class OfMethodOfInterface extends Meta implements WithMethod {

			@Override
			public LockKey get() {
				return super.get();
			}

		}

		@Thrice
		interface WithClass {

		}

		static class OfInterface extends Meta implements WithClass {

		}

	}

	interface Finder<T> {

		T find();

	}

	static class OptionalFinder implements Finder<Optional<String>> {

		@Override
		@DistributedLock(name = "finder", key = "1", waitTime = "0s", onContention = OnContention.SKIP)
		public Optional<String> find() {
			return Optional.of("found");
		}

	}

	static class Stock {

		final List<Boolean> lockedByOthersInside = new ArrayList<>();

		private final @Nullable DefaultLockRegistry other;

		Runnable inside = () -> {
		};

		Stock() {
			this(null);
		}

		Stock(@Nullable DefaultLockRegistry other) {
			this.other = other;
		}

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s")
		public String deduct(long productId) {
			return body(productId);
		}

		@DistributedLock(name = "once", key = "#productId", waitTime = "0s", holdAtLeast = "1h",
				onContention = OnContention.SKIP)
		public Optional<String> once(long productId) {
			return Optional.of("done");
		}

		@DistributedLock(name = "stock", key = "#productIds", waitTime = "0s", fallback = "nothing")
		public List<String> deductAll(List<Long> productIds) {
			productIds.forEach(this::body);
			return LeaseSet.current().all().stream().map((lease) -> String.valueOf(lease.key().key())).toList();
		}

		@DistributedLock(name = "stock", key = "#productIds")
		public List<String> leasesOf(List<Long> productIds) {
			return LeaseSet.current().all().stream().map((lease) -> String.valueOf(lease.key().key())).toList();
		}

		@DistributedLock(name = "stock", key = "#productId")
		public List<String> leaseOf(long productId) {
			assertThat(LeaseSet.current()).isSameAs(Lease.current());
			return LeaseSet.current().all().stream().map((lease) -> String.valueOf(lease.key().key())).toList();
		}

		@DistributedLock(name = "stock", key = "#productIds")
		public Lease currentOf(List<Long> productIds) {
			return Lease.current();
		}

		@DistributedLock(name = "stock", key = "#from", waitTime = "5s")
		@DistributedLock(name = "stock", key = "#to", waitTime = "5s")
		public void moveAll(List<Long> from, List<Long> to) {
			from.forEach(this::body);
			to.forEach(this::body);
		}

		List<String> nothing(List<Long> productIds) {
			return List.of();
		}

		@DistributedLock(name = "stock", key = "#from", waitTime = "0s", onContention = OnContention.SKIP)
		@DistributedLock(name = "stock", key = "#to", waitTime = "0s", onContention = OnContention.SKIP)
		public @Nullable String move(long from, long to) {
			body(from);
			return body(to);
		}

		@DistributedLock(name = "stock", key = "#productId", onLost = OnLost.LOG)
		public String carryOn(long productId) {
			return body(productId);
		}

		@DistributedLock(name = "stock", key = "#productId")
		public void fail(long productId) {
			body(productId);
			throw new IllegalStateException("out of order");
		}

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", onContention = OnContention.SKIP)
		public @Nullable Object skipObject(long productId) {
			return body(productId);
		}

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", onContention = OnContention.SKIP)
		public Optional<String> skipOptional(long productId) {
			return Optional.of(body(productId));
		}

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", onContention = OnContention.SKIP)
		public OptionalInt skipOptionalInt(long productId) {
			return OptionalInt.of(body(productId).length());
		}

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", onContention = OnContention.SKIP)
		public void skipVoid(long productId) {
			body(productId);
		}

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", fallback = "instead")
		public String fallBack(long productId) {
			return body(productId);
		}

		private String instead(long productId) {
			return "instead of " + productId;
		}

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", fallback = "reserveElsewhere",
				onUnavailable = OnUnavailable.FALLBACK)
		public String reserve(long productId, int count) {
			return body(productId);
		}

		String reserveElsewhere(long productId, int count, LockException reason) {
			return count + " of " + productId + ": " + reason.getClass().getSimpleName() + " of " + reason.getKey();
		}

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", fallback = "reserveLater")
		public String reserveUnlessContended(long productId) {
			return body(productId);
		}

		private String reserveLater(long productId, LockContendedException reason) {
			return "contention for " + productId;
		}

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", fallback = "findElsewhere",
				onUnavailable = OnUnavailable.FALLBACK)
		public Optional<String> find(long productId) {
			return Optional.of(body(productId));
		}

		static Optional<String> findElsewhere(long productId) {
			return Optional.of("instead of " + productId);
		}

		@DistributedLock(name = "stock", key = "#productId", waitTime = "0s", fallback = "failInstead")
		public String fallBackBadly(long productId) throws IOException {
			return body(productId);
		}

		String failInstead(long productId) throws IOException {
			throw new IOException("product " + productId);
		}

		@DistributedLock(name = "stock", key = "#name")
		public String byName(@Nullable String name) {
			return body(1001);
		}

		@DistributedLock(name = "stock", key = "#productId")
		public long token(long productId) {
			Lease lease = Lease.current();
			assertThat(lease.key()).isEqualTo(LockKey.of("stock", productId));
			return lease.fencingToken();
		}

		@DistributedLock(name = "stock", key = "#productId")
		public @Nullable Lease passed(long productId, @Nullable Lease lease) {
			return lease;
		}

		private String body(long productId) {
			LockRequest request = LockRequest.of("stock", productId).withWaitTime(Duration.ZERO);
			this.lockedByOthersInside.add(this.other.tryAcquire(request).isEmpty());
			this.inside.run();
			return "done";
		}

	}

}
