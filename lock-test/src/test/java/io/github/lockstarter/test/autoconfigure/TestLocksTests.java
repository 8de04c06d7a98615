// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.FactoryBean;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestContextManager;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class TestLocksTests {

	private static final LockRequest STOCK = LockRequest.of("stock", 1001);

	/** For a test that hangs. */
	private static final Duration PATIENCE = Duration.ofSeconds(20);

	private final ManualTime time = new ManualTime();

	private final TestLocks locks = new TestLocks(this.time);

	private final DefaultLockRegistry registry = registry();

	private final DefaultLockRegistry other = registry();

	private DefaultLockRegistry registry() {
		return new DefaultLockRegistry(this.locks.createStore(), EngineSettings.DEFAULTS, this.locks, this.time);
	}

	@AfterEach
	void close() {
		this.locks.endTest();
		this.registry.close();
		this.other.close();
	}

	@Test
	void aLockIsHeldElsewhereInAllRegistriesUntilItIsReleased() {
		Situation held = this.locks.heldElsewhere("stock", 1001);
		assertContended(this.registry);
		assertContended(this.other);
		assertThatIllegalStateException().isThrownBy(() -> this.locks.lose("stock", 1001))
			.withMessageContaining("does not hold it");
		this.registry.acquire(LockRequest.of("stock", 1002)).close();
		held.close();
		held.close();
		try (Lease here = this.registry.acquire(STOCK); Lease there = this.other.acquire(STOCK)) {
			assertThat(here.isHeld() && there.isHeld()).isTrue();
		}
	}

	@Test
	void aLockIsHeldElsewhereInARegistryThatIsCreatedLater() {
		try (Situation held = this.locks.heldElsewhere("stock", 1001)) {
			DefaultLockRegistry late = registry();
			assertContended(late);
			held.close();
			late.acquire(STOCK).close();
			late.close();
		}
		DefaultLockRegistry later = registry();
		later.acquire(STOCK).close();
		later.close();
	}

	@Test
	void situationsMayOverlap() {
		Situation first = this.locks.heldElsewhere("stock", 1002);
		try (Situation second = this.locks.heldElsewhere("stock", 1001)) {
			first.close();
			assertContended(this.registry);
		}
	}

	@Test
	void noOtherInstanceHoldsWhatTheApplicationHolds() {
		try (Lease lease = this.other.acquire(STOCK)) {
			assertThatIllegalStateException().isThrownBy(() -> this.locks.heldElsewhere("stock", 1001))
				.withMessageContaining("held already");
		}
		try (Situation held = this.locks.heldElsewhere("stock", 1001)) {
			assertThatIllegalStateException().isThrownBy(() -> this.locks.heldElsewhere("stock", 1001))
				.withMessageContaining("held already");
			assertContended(this.registry);
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> this.registry.acquire(STOCK))
				.withMessageContaining("elsewhere, whose lease ends in 29 s unless renewed");
		}
		assertThat(this.registry.tryAcquire(STOCK)).hasValueSatisfying(Lease::close);
	}

	@Test
	void whoeverWaitsOnAnotherThreadIsGrantedTheLockAtItsRelease() throws Exception {
		Situation held = this.locks.heldElsewhere("stock", 1001);
		Call<Lease> waiter = Callers.start(() -> this.registry.acquire(STOCK));
		this.locks.awaitWaiting(1);
		held.close();
		waiter.get().close();
	}

	@Test
	void aWaitOnAnotherThreadEndsWhenTimeIsMoved() throws Exception {
		try (Situation held = this.locks.heldElsewhere("stock", 1001)) {
			Call<?> waiter = Callers.start(() -> this.registry.tryAcquire(STOCK));
			this.locks.awaitWaiting(1);
			this.locks.advance(Duration.ofSeconds(10));
			assertThat(waiter.get()).isEqualTo(Optional.empty());
		}
	}

	@Test
	void allOwnersLoseALock() {
		LockRequest shared = STOCK.withMode(LockMode.READ);
		Lease one = this.registry.acquireAsync(shared).join();
		Lease second = this.registry.acquireAsync(shared).join();
		Lease another = this.other.acquireAsync(shared.withLeaseTime(Duration.ofMinutes(1))).join();
		this.locks.lose("stock", 1001);
		assertThat(one.isHeld() || second.isHeld() || another.isHeld()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(one::close);
		assertThat(this.locks.keys(LockEvent.Lost.class)).hasSize(3);
		assertThatIllegalStateException().isThrownBy(() -> this.locks.lose("stock", 1001))
			.withMessageContaining("does not hold it");
	}

	@Test
	void oneOfSeveralLocksIsLost() {
		LeaseSet both = this.registry.acquireAll(List.of(STOCK, LockRequest.of("order", 7)));
		this.locks.lose(LockKey.of("order", 7));
		assertThat(both.get(STOCK.key()).isHeld()).isTrue();
		assertThat(both.isHeld()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(both::close);
	}

	@Test
	void anOutageEndsLeasesOnlyIfItOutlastsThem() {
		Lease lease = this.registry.acquire(STOCK);
		try (Situation outage = this.locks.outage()) {
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> this.registry.acquire(LockRequest.of("order", 7)));
			assertThat(this.registry.store().inspection().orElseThrow().inspect(STOCK.key()))
				.isCompletedExceptionally();
			this.locks.advance(Duration.ofSeconds(15));
		}
		this.locks.advance(Duration.ofMinutes(1));
		assertThat(lease.isHeld()).isTrue();
		try (Situation outage = this.locks.outage()) {
			this.locks.advance(Duration.ofSeconds(31));
			assertThat(lease.isHeld()).isFalse();
		}
	}

	@Test
	void aFutureFailsWhileTheThreadOfTheTestWaitsForItInVain() {
		try (Situation held = this.locks.heldElsewhere("stock", 1001)) {
			CompletableFuture<Lease> vain = this.registry.acquireAsync(STOCK);
			assertThat(vain).isNotDone();
			assertThat(vain).failsWithin(PATIENCE)
				.withThrowableThat()
				.withCauseInstanceOf(LockContendedException.class);
		}
	}

	@Test
	void workWithoutAThreadFailsDuringAnOutage() {
		try (Situation outage = this.locks.outage()) {
			CompletableFuture<String> vain = new LockTemplate(this.registry).executeAsync(STOCK,
					(lease) -> CompletableFuture.completedFuture("sold"));
			assertThat(vain).failsWithin(PATIENCE)
				.withThrowableThat()
				.withCauseInstanceOf(LockUnavailableException.class);
		}
	}

	@Test
	void aFutureIsGrantedTheLockAtItsReleaseElsewhere() {
		Situation held = this.locks.heldElsewhere("stock", 1001);
		CompletableFuture<Lease> waiter = this.registry.acquireAsync(STOCK);
		held.close();
		waiter.join().close();
	}

	@Test
	void aRequestThatStillWaitsWhenAnOutageIsClosedAsksAgain() {
		CompletableFuture<Lease> waiter;
		try (Situation outage = this.locks.outage()) {
			waiter = this.registry.acquireAsync(STOCK);
			this.locks.advance(Duration.ofSeconds(1));
		}
		assertThat(waiter).succeedsWithin(PATIENCE).satisfies(Lease::close);
	}

	@Test
	void aThreadThatStillWaitsAtTheEndOfATestWithAnOutageAsksAgain() throws Exception {
		this.locks.outage();
		Call<Lease> waiter = Callers.start(() -> this.registry.acquire(STOCK));
		this.locks.awaitWaiting(1);
		this.locks.endTest();
		waiter.get().close();
	}

	@Test
	void timeDoesNotPassForAFutureWhileAThreadWaits() throws Exception {
		Situation held = this.locks.heldElsewhere("stock", 1001);
		long before = this.time.now();
		Call<Lease> waiter = Callers.start(() -> this.registry.acquire(STOCK));
		this.locks.awaitWaiting(1);
		this.time.passWhileWaiting(Thread.currentThread());
		assertThat(this.time.now()).isEqualTo(before);
		held.close();
		waiter.get().close();
	}

	@Test
	void aReaderElsewhereKeepsOutWritersOnly() {
		try (Situation held = this.locks.heldElsewhere(STOCK.key(), LockMode.READ)) {
			assertContended(this.registry);
			Lease reader = this.registry.acquire(STOCK.withMode(LockMode.READ));
			this.locks.lose("stock", 1001);
			assertThat(reader.isHeld()).isFalse();
			assertContended(this.other);
		}
		this.other.acquire(STOCK).close();
	}

	@Test
	void aTestBeginsWithoutWhatTheOneBeforeHasLeft() {
		this.locks.beginTest();
		this.locks.heldElsewhere(LockKey.of("order", 7));
		this.locks.outage();
		this.locks.endTest();
		Lease lease = this.registry.acquire(STOCK);
		lease.holdAtLeast(Duration.ofHours(1));
		lease.close();
		this.locks.beginTest();
		assertThat(this.locks.events()).isEmpty();
		assertThat(this.registry.tryAcquire(STOCK.withWaitTime(Duration.ZERO))).hasValueSatisfying(Lease::close);
		this.registry.acquire(LockRequest.of("order", 7)).close();
	}

	@Test
	void aLockThatIsHeldAgainAfterItWasKeptStaysHeld() {
		Lease kept = this.registry.acquire(STOCK);
		kept.holdAtLeast(Duration.ofMinutes(1));
		kept.close();
		this.locks.advance(Duration.ofMinutes(1));
		try (Lease lease = this.registry.acquire(STOCK)) {
			this.locks.beginTest();
			this.locks.advance(Duration.ofMinutes(1));
			assertThat(lease.isHeld()).isTrue();
		}
	}

	@Test
	void whatIsBegunBeforeAllTestsLastsUntilItIsClosed() {
		Situation held = this.locks.heldElsewhere("stock", 1001);
		for (int test = 0; test < 2; test++) {
			this.locks.beginTest();
			assertContended(this.registry);
			this.locks.endTest();
		}
		held.close();
		this.registry.acquire(STOCK).close();
	}

	@Test
	void beforeATestWithoutLocksNoBeanIsCreated() throws Exception {
		TestContextManager manager = new TestContextManager(WithoutLocks.class);
		GenericApplicationContext context = (GenericApplicationContext) manager.getTestContext()
			.getApplicationContext();
		context.registerBean("lazy", FactoryBean.class, LazyFactory::new, (definition) -> definition.setLazyInit(true));
		assertThat(manager.getTestExecutionListeners()).filteredOn(TestLocks.Listener.class::isInstance)
			.singleElement()
			.satisfies((listener) -> listener.beforeTestMethod(manager.getTestContext()));
		assertThat(context.getBeanFactory().containsSingleton("lazy")).isFalse();
	}

	private static void assertContended(DefaultLockRegistry registry) {
		assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> registry.acquire(STOCK))
			.satisfies((ex) -> assertThat(ex.getHolder()).isEqualTo("elsewhere"));
	}

	@ContextConfiguration(classes = ManualTime.class)
	static class WithoutLocks {

	}

	/**
	 * What it creates is known only when it exists.
	 */
	private static final class LazyFactory implements FactoryBean<Object> {

		@Override
		public Object getObject() {
			return "created";
		}

		@Override
		public @Nullable Class<?> getObjectType() {
			return null;
		}

	}

}
