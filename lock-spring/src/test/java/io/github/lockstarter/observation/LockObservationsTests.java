// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.observation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Lock;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.GlobalObservationConvention;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.tck.TestObservationRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.testsupport.ManualInstances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What observations tell of locks.
 */
class LockObservationsTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001).withWaitTime(Duration.ZERO);

	private static final Duration LEASE = EngineSettings.DEFAULTS.leaseTime();

	@RegisterExtension
	final ManualInstances instances = new ManualInstances();

	/** Complains of an observation that is stopped twice, or never started. */
	private final TestObservationRegistry micrometer = TestObservationRegistry.create();

	private final Recorder recorder = new Recorder();

	private final FaultInjectingStore store = this.instances.store();

	private LockRegistry registry = registry(null);

	private LockRegistry registry(@Nullable LockObservationConvention convention) {
		LockObservations observations = new LockObservations(this.micrometer, convention);
		DefaultLockRegistry registry = this.instances.registry(this.store, observations);
		return observations.decorate(registry.name(), registry);
	}

	LockObservationsTests() {
		this.micrometer.observationConfig().observationHandler(this.recorder);
	}

	@AfterEach
	void nothingIsLeftOpen() {
		assertThat(this.recorder.open()).isEmpty();
		assertThat(this.micrometer.getCurrentObservation()).isNull();
	}

	@Test
	void anAcquisitionAndItsHoldAreObservedOneAfterTheOther() {
		Lease lease = this.registry.acquire(REQUEST);
		String token = Long.toString(lease.fencingToken());
		assertThat(this.recorder.open()).containsExactly("distributed.lock.hold");
		assertThat(this.recorder.last()).isEqualTo(new Seen(
				"distributed.lock.acquire", "acquire stock", Map.of("lock.name", "stock", "lock.mode", "exclusive",
						"lock.store", "MemoryLockStore", "lock.outcome", "acquired"),
				Map.of("lock.key", "1001", "lock.token", token, "lock.holder", "none"), null));
		lease.close();
		assertThat(this.recorder.last()).isEqualTo(new Seen(
				"distributed.lock.hold", "hold stock", Map.of("lock.name", "stock", "lock.mode", "exclusive",
						"lock.store", "MemoryLockStore", "lock.outcome", "released"),
				Map.of("lock.key", "1001", "lock.token", token), null));
		assertThat(this.recorder.all()).hasSize(2);
	}

	@Test
	void theDocumentationListsTheKeyValues() {
		this.registry.acquire(REQUEST).close();
		assertThat(this.recorder.all()).zipSatisfy(List.of(LockObservationDocumentation.values()),
				(seen, documented) -> {
					assertThat(seen.name()).isEqualTo(documented.getName());
					assertThat(documented.getLowCardinalityKeyNames()).extracting(KeyName::asString)
						.containsExactlyInAnyOrderElementsOf(seen.low().keySet());
					assertThat(documented.getHighCardinalityKeyNames()).extracting(KeyName::asString)
						.containsExactlyInAnyOrderElementsOf(seen.high().keySet());
				});
	}

	@Test
	void theOutcomeIsNotKnownAtTheStart() {
		this.registry.acquire(LockRequest.of("report").withMode(LockMode.FAIR)).close();
		assertThat(this.recorder.started).containsExactly(
				Map.of("lock.name", "report", "lock.mode", "fair", "lock.store", "MemoryLockStore"),
				Map.of("lock.name", "report", "lock.mode", "fair", "lock.store", "MemoryLockStore"));
		assertThat(this.recorder.last().high()).containsEntry("lock.key", "none");
	}

	@Test
	void aContendedLockHasItsHolderAndIsNoError() {
		try (Lease lease = heldByOrders()) {
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> this.registry.acquire(REQUEST));
			assertThat(this.recorder.last().outcome()).isEqualTo("contended");
			assertThat(this.recorder.last().high()).containsEntry("lock.holder", "orders@web-1:7")
				.containsEntry("lock.token", "none");
			assertThat(this.recorder.last().error()).isNull();
			assertThat(this.registry.tryAcquire(REQUEST)).isEmpty();
			assertThat(this.recorder.last().outcome()).isEqualTo("contended");
			assertThat(this.registry.tryAcquireAll(List.of(REQUEST))).isEmpty();
			assertThat(this.recorder.last().outcome()).isEqualTo("contended");
		}
	}

	@Test
	void aSkippedBodyIsAnOutcomeOfItsOwn() {
		try (Lease lease = heldByOrders()) {
			String result = new LockTemplate(this.registry).withSkips(true)
				.executeOrElse(REQUEST, (held) -> "ran", (ex) -> "skipped");
			assertThat(result).isEqualTo("skipped");
			assertThat(this.recorder.last().outcome()).isEqualTo("skipped");
		}
	}

	private Lease heldByOrders() {
		return this.instances
			.registry(this.instances.store(), EngineSettings.DEFAULTS.withInstanceName("orders@web-1:7"),
					LockListener.NO_OP)
			.acquire(REQUEST);
	}

	@Test
	void aStoreThatCannotBeAskedIsAnError() {
		this.store.acquire.loseRequests(() -> true);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.registry.acquire(REQUEST));
		assertThat(this.recorder.last().outcome()).isEqualTo("unavailable");
		assertThat(this.recorder.last().error()).isInstanceOf(LockUnavailableException.class);
	}

	@Test
	void anInterruptedWaitIsAnOutcome() {
		Thread.currentThread().interrupt();
		try {
			assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(() -> this.registry.acquire(REQUEST));
		}
		finally {
			Thread.interrupted();
		}
		assertThat(this.recorder.last().outcome()).isEqualTo("interrupted");
	}

	@Test
	void aRequestThatIsRefusedIsAnError() {
		LockRequest impossible = REQUEST.withHoldAtLeast(Duration.ofSeconds(1));
		assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> this.registry.acquire(impossible));
		assertThat(this.recorder.last().outcome()).isEqualTo("error");
		assertThatExceptionOfType(IllegalArgumentException.class)
			.isThrownBy(() -> this.registry.acquireAsync(impossible));
		assertThat(this.recorder.last().outcome()).isEqualTo("error");
		assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> this.registry.acquireAll(List.of()));
		assertThat(this.recorder.all()).hasSize(2);
	}

	@Test
	void aNestedAcquisitionSharesTheHold() {
		Lease outer = this.registry.acquire(REQUEST);
		Lease inner = this.registry.acquire(REQUEST);
		assertThat(this.recorder.last().outcome()).isEqualTo("nested");
		outer.close();
		assertThat(this.recorder.open()).containsExactly("distributed.lock.hold");
		inner.close();
		inner.close();
		assertThat(this.recorder.outcomes()).containsExactly("acquired", "nested", "released");
	}

	@Test
	void viewsOfTheLocksAreObserved() {
		Lock lock = this.registry.lock(REQUEST.key());
		lock.lock();
		lock.unlock();
		this.registry.readWriteLock(REQUEST.key()).readLock().lock();
		this.registry.readWriteLock(REQUEST.key()).readLock().unlock();
		assertThat(this.recorder.outcomes()).containsExactly("acquired", "released", "acquired", "released");
		assertThat(this.recorder.last().low()).containsEntry("lock.mode", "read");
	}

	@Test
	void aLockThatIsLostEndsItsHoldThen() {
		Lease lease = this.registry.acquire(REQUEST);
		this.store.renew.loseRequests(() -> true);
		this.instances.time.advance(LEASE);
		assertThat(this.recorder.outcomes()).containsExactly("acquired", "lost");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
		assertThat(this.recorder.all()).hasSize(2);
	}

	@Test
	void aLockThatIsLostInTheInstantOfItsGrantEndsItsHold() {
		this.store.renew.loseRequests(() -> true);
		this.recorder.onHold = () -> this.instances.time.advance(LEASE);
		this.registry.acquire(REQUEST);
		assertThat(this.recorder.outcomes()).containsExactly("acquired", "lost");
	}

	@Test
	void aFixedLeaseThatNobodyClosesEndsItsHold() {
		this.registry.acquire(REQUEST.withLeaseTime(Duration.ofSeconds(3)));
		this.instances.time.advance(Duration.ofSeconds(3));
		assertThat(this.recorder.outcomes()).containsExactly("acquired", "lost");
	}

	@Test
	void aLockThatIsKeptIsNoLongerHeld() {
		try (Lease lease = this.registry.acquire(REQUEST)) {
			lease.holdAtLeast(Duration.ofMinutes(1));
		}
		assertThat(this.recorder.outcomes()).containsExactly("acquired", "released");
	}

	@Test
	void aLockThatCannotBeReleasedIsNoLongerHeld() {
		Lease lease = this.registry.acquire(REQUEST);
		this.store.release.loseRequests(() -> true);
		lease.close();
		this.instances.time.settle();
		assertThat(this.recorder.outcomes()).containsExactly("acquired", "released");
	}

	@Test
	void aHoldHasBegunWhenTheOwnerOfAFutureGetsIt() {
		List<List<String>> open = new ArrayList<>();
		CompletableFuture<Lease> future = this.registry.acquireAsync(REQUEST);
		future.thenAccept((lease) -> {
			open.add(this.recorder.open());
			lease.close();
		}).join();
		assertThat(open).containsExactly(List.of("distributed.lock.hold"));
		this.instances.time.settle();
		assertThat(this.recorder.outcomes()).containsExactly("acquired", "released");
	}

	@Test
	void aFutureThatIsCancelledIsInterrupted() {
		Lease lease = heldByOrders();
		CompletableFuture<Lease> future = this.registry.acquireAsync(REQUEST.withWaitTime(LockRequest.FOREVER));
		assertThat(this.recorder.open()).containsExactly("distributed.lock.acquire");
		future.cancel(false);
		this.instances.time.settle();
		assertThat(this.recorder.outcomes()).containsExactly("interrupted");
		lease.close();
		this.instances.time.settle();
		assertThat(this.instances.memory.isEmpty()).isTrue();
	}

	@Test
	void theSpanOfTheCallerIsTheParentOfBoth() {
		Observation caller = Observation.start("caller", this.micrometer);
		try (Observation.Scope scope = caller.openScope()) {
			this.registry.acquire(REQUEST).close();
			this.registry.acquireAsync(REQUEST).thenAccept(Lease::close).join();
			this.registry.acquireAllAsync(List.of(REQUEST)).thenAccept(LeaseSet::close).join();
			this.instances.time.settle();
			assertThat(this.micrometer.getCurrentObservation()).isSameAs(caller);
		}
		caller.stop();
		assertThat(this.recorder.parents).hasSize(6).containsOnly(caller);
	}

	@Test
	void locksThatAreAcquiredTogetherAreOneAcquisitionAndOneHold() {
		LockRequest other = LockRequest.of("stock", 1002).withWaitTime(Duration.ZERO);
		LeaseSet leases = this.registry.acquireAll(List.of(REQUEST, other));
		assertThat(this.recorder.last().low()).containsEntry("lock.name", "stock")
			.containsEntry("lock.outcome", "acquired");
		assertThat(this.recorder.last().high()).containsEntry("lock.key", "stock:1001, stock:1002")
			.containsEntry("lock.token", "none");
		leases.all().get(0).close();
		assertThat(this.recorder.open()).containsExactly("distributed.lock.hold");
		leases.close();
		assertThat(this.recorder.outcomes()).containsExactly("acquired", "released");
	}

	@Test
	void locksOfSeveralNamesAndModesHaveNoneOfThem() {
		LockRequest nested = LockRequest.of("order", 7);
		Lease outer = this.registry.acquire(nested);
		LeaseSet leases = this.registry.acquireAll(List.of(REQUEST, nested.withMode(LockMode.WRITE)));
		assertThat(this.recorder.last().low()).containsEntry("lock.name", "several")
			.containsEntry("lock.mode", "several");
		leases.close();
		assertThat(this.recorder.open()).containsExactly("distributed.lock.hold");
		outer.close();
		assertThat(this.recorder.outcomes()).containsExactly("acquired", "acquired", "released", "released");
	}

	@Test
	void aTraceDoesNotListAThousandKeys() {
		List<LockRequest> requests = new ArrayList<>();
		for (int i = 0; i < 12; i++) {
			requests.add(LockRequest.of("stock", i));
		}
		this.registry.acquireAll(requests).close();
		assertThat(this.recorder.last().high().get("lock.key")).startsWith("stock:0, ").endsWith(" and 2 more");
	}

	@Test
	void furtherNamesAreOther() {
		for (int i = 0; i < BoundedNames.MAX_NAMES + 10; i++) {
			this.registry.acquire(LockRequest.of("tenant-" + i)).close();
		}
		assertThat(this.recorder.all().stream().map((each) -> each.low().get("lock.name")).distinct())
			.hasSize(BoundedNames.MAX_NAMES + 1)
			.contains("tenant-99", "other")
			.doesNotContain("tenant-100");
	}

	@ParameterizedTest
	@ValueSource(strings = { "start", "stop", "error" })
	void aHandlerThatFailsAffectsNoLock(String when) {
		this.micrometer.observationConfig().observationHandler(new FailingHandler(when));
		Lease lease = this.registry.acquire(REQUEST);
		assertThat(lease.isHeld()).isTrue();
		lease.close();
		this.registry.acquireAsync(REQUEST).thenAccept(Lease::close).join();
		this.registry.acquireAll(List.of(REQUEST)).close();
		this.store.acquire.loseRequests(() -> true);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.registry.acquire(REQUEST));
		this.instances.time.settle();
		this.instances.time.advance(LEASE.multipliedBy(2));
		assertThat(this.instances.memory.isEmpty()).isTrue();
		this.recorder.forget();
	}

	@Test
	void anApplicationMayNameThemItself() {
		this.registry = registry(new DefaultLockObservationConvention() {

			@Override
			public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
				return super.getLowCardinalityKeyValues(context).and("region", "eu");
			}

			@Override
			public KeyValues getHighCardinalityKeyValues(LockObservationContext context) {
				return KeyValues.of("keys", context.getKeys().toString());
			}

			@Override
			public String getContextualName(LockObservationContext context) {
				return context.getObservation() + " of " + context.getLockName();
			}

		});
		this.registry.acquire(REQUEST).close();
		assertThat(this.recorder.last()).isEqualTo(new Seen(
				"distributed.lock.hold", "HOLD of stock", Map.of("lock.name", "stock", "lock.mode", "exclusive",
						"lock.store", "MemoryLockStore", "lock.outcome", "released", "region", "eu"),
				Map.of("keys", "[stock:1001]"), null));
	}

	@Test
	void aGlobalConventionIsAskedInsteadOfTheDefaultOne() {
		this.micrometer.observationConfig().observationConvention(new GlobalLockConvention());
		this.registry.acquire(REQUEST).close();
		assertThat(this.recorder.last())
			.isEqualTo(new Seen("distributed.lock.hold", null, Map.of("lock", "stock"), Map.of(), null));
	}

	@Test
	void aFilterMayAddAndRemoveValues() {
		this.micrometer.observationConfig()
			.observationFilter((context) -> context.addLowCardinalityKeyValue(KeyValue.of("region", "eu"))
				.removeLowCardinalityKeyValue("lock.mode")
				.removeHighCardinalityKeyValue("lock.key"));
		this.registry.acquire(REQUEST).close();
		assertThat(this.recorder.last().low()).containsOnlyKeys("lock.name", "lock.store", "lock.outcome", "region");
		assertThat(this.recorder.last().high()).containsOnlyKeys("lock.token");
	}

	@Test
	void aValueThatAFilterAddsWinsOverTheDefault() {
		this.micrometer.observationConfig()
			.observationFilter((context) -> context.addLowCardinalityKeyValue(KeyValue.of("lock.name", "hidden")));
		this.registry.acquire(REQUEST).close();
		assertThat(this.recorder.last().low()).containsEntry("lock.name", "hidden");
	}

	/**
	 * An observation that was stopped.
	 */
	private record Seen(@Nullable String name, @Nullable String contextualName, Map<String, String> low,
			Map<String, String> high, @Nullable Throwable error) {

		String outcome() {
			return this.low.getOrDefault("lock.outcome", "");
		}

	}

	/**
	 * Records what the handler of a monitoring system sees.
	 */
	private static final class Recorder implements ObservationHandler<LockObservationContext> {

		private final List<Observation.Context> open = new CopyOnWriteArrayList<>();

		private final List<Map<String, String>> started = new CopyOnWriteArrayList<>();

		private final List<@Nullable Object> parents = new CopyOnWriteArrayList<>();

		private final List<Seen> seen = new CopyOnWriteArrayList<>();

		private Runnable onHold = () -> {
		};

		@Override
		public boolean supportsContext(Observation.Context context) {
			return context instanceof LockObservationContext;
		}

		@Override
		public void onStart(LockObservationContext context) {
			this.open.add(context);
			this.started.add(map(context.getLowCardinalityKeyValues()));
			this.parents.add(context.getParentObservation());
			if (context.getObservation() == LockObservationDocumentation.HOLD) {
				this.onHold.run();
			}
		}

		@Override
		public void onStop(LockObservationContext context) {
			this.open.remove(context);
			this.seen
				.add(new Seen(context.getName(), context.getContextualName(), map(context.getLowCardinalityKeyValues()),
						map(context.getHighCardinalityKeyValues()), context.getError()));
		}

		private static Map<String, String> map(KeyValues values) {
			Map<String, String> map = new TreeMap<>();
			values.forEach((each) -> map.put(each.getKey(), each.getValue()));
			return map;
		}

		List<String> open() {
			return this.open.stream().map(Observation.Context::getName).toList();
		}

		List<Seen> all() {
			return this.seen;
		}

		Seen last() {
			return this.seen.get(this.seen.size() - 1);
		}

		List<String> outcomes() {
			return this.seen.stream().map(Seen::outcome).toList();
		}

		void forget() {
			this.open.clear();
		}

	}

	private record FailingHandler(String when) implements ObservationHandler<Observation.Context> {

		@Override
		public boolean supportsContext(Observation.Context context) {
			return true;
		}

		@Override
		public void onStart(Observation.Context context) {
			fail("start");
		}

		@Override
		public void onStop(Observation.Context context) {
			fail("stop");
		}

		@Override
		public void onError(Observation.Context context) {
			fail("error");
		}

		private void fail(String method) {
			if (method.equals(this.when)) {
				throw new StackOverflowError(method);
			}
		}

	}

	private static final class GlobalLockConvention implements GlobalObservationConvention<LockObservationContext> {

		@Override
		public boolean supportsContext(Observation.Context context) {
			return context instanceof LockObservationContext;
		}

		@Override
		public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
			return KeyValues.of("lock", context.getLockName());
		}

	}

}
