// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.DelegatingStore;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Requests whose answers cross other events.
 */
class StoreGatewayTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY).withWaitTime(Duration.ofSeconds(1));

	private static final Duration LEASE = Duration.ofSeconds(30);

	private final ManualTime time = new ManualTime();

	private final LockMemory memory = new LockMemory(this.time);

	private final CompletableFuture<Void> withdrawn = new CompletableFuture<>();

	private final FaultInjectingStore store = new FaultInjectingStore(
			new DelegatingStore(new MemoryLockStore(this.memory)) {

				@Override
				protected <T> CompletionStage<T> ask(Request kind, Supplier<CompletionStage<T>> request) {
					CompletionStage<T> answer = super.ask(kind, request);
					return (kind != Request.WITHDRAW) ? answer
							: answer.thenCombine(StoreGatewayTests.this.withdrawn, (value, nothing) -> value);
				}

			});

	private final DefaultLockRegistry registry = registry(this.store);

	private final DefaultLockRegistry other = registry(new MemoryLockStore(this.memory));

	private final List<LockEvent> events = new ArrayList<>();

	private final EngineThreads threads = new EngineThreads(this.time);

	private final Terms terms = new Terms(EngineSettings.DEFAULTS, this.time);

	private final OutageLog outages = EngineProbe.outages(this.threads.timetable());

	private final StoreGateway gateway = new StoreGateway(this.store, StoreCapabilities.of("memory", this.store),
			EngineSettings.DEFAULTS, this.threads, this.terms,
			new LeaseEvents("memory", this.events::add, Runnable::run, Runnable::run, this.outages), this.outages);

	private DefaultLockRegistry registry(LockStore store) {
		return new DefaultLockRegistry(store, EngineSettings.DEFAULTS, LockListener.NO_OP, this.time);
	}

	@AfterEach
	void end() {
		this.withdrawn.complete(null);
		this.registry.close();
		this.other.close();
		this.threads.close();
	}

	@Test
	void aWaiterThatCameMeanwhileAsksAgainAfterThePlaceOfItsJvmWasGivenUp() throws Exception {
		Lease lease = this.other.acquire(REQUEST);
		assertThat(this.time.letPass(() -> this.registry.tryAcquire(REQUEST))).isEmpty();
		CompletableFuture<Lease> waiter = this.registry.acquireAsync(REQUEST.withWaitTime(Duration.ofMinutes(1)));
		this.time.settle();
		int requests = this.store.acquire.calls();
		this.withdrawn.complete(null);
		this.time.settle();
		assertThat(this.store.acquire.calls()).isEqualTo(requests + 1);
		lease.close();
		waiter.get().close();
	}

	@Test
	void thePlaceOfAWaiterThatLeavesWhileItEntersIsGivenUp() {
		Waiter waiter = new ThreadWaiter(this.terms, Duration.ZERO, LockMode.FAIR, null, null, Thread.currentThread());
		this.store.arrive.loseRequests(() -> {
			this.gateway.endWait(KEY, waiter, false);
			return false;
		});
		this.gateway.beginWait(waiter);
		this.gateway.enterLine(KEY, waiter);
		this.time.settle();
		assertThat(this.store.arrive.calls()).isOne();
		assertThat(this.store.withdraw.calls()).isOne();
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void theEndWaitsUntilAPlaceIsGivenUp() throws Exception {
		Lease lease = this.other.acquire(REQUEST);
		assertThat(this.time.letPass(() -> this.registry.tryAcquire(REQUEST))).isEmpty();
		Call<Boolean> end = Callers.start(() -> {
			this.registry.close();
			return true;
		});
		this.time.awaitParked(1);
		this.withdrawn.complete(null);
		assertThat(end.get()).isTrue();
		lease.close();
	}

	/** Otherwise the release would seem to come after a loss. */
	@Test
	void aLockWhoseReleaseIsUnderWayIsReleasedAgainOnlyAfterIt() {
		Hold hold = begin();
		Ownership ownership = hold.ownership();
		this.store.release.loseRequests(() -> {
			if (this.store.release.calls() == 1) {
				LeaseWatchdog.Renewal renewal = this.gateway.watchdog().begin(ownership);
				this.store.renew(List.of(renewal.request()));
				this.gateway.watchdog().sent(renewal);
				assertThat(this.store.release.calls()).as("releases at the same time").isOne();
			}
			return false;
		});
		this.gateway.release(ownership, hold);
		this.time.settle();
		assertThat(hold.isLost()).isFalse();
		assertThat(this.events).isEmpty();
		assertThat(this.store.release.calls()).isEqualTo(2);
	}

	/** The hold has left its lock by then, so nobody else tells it of the loss. */
	@Test
	void aLossAtTheInstantOfTheReleaseIsNotMissed() {
		Hold hold = begin();
		hold.end(this.time.now());
		hold.ownership().lose("it is a test");
		this.gateway.release(hold.ownership(), hold);
		assertThat(hold.isLost()).isTrue();
		assertThat(this.events).hasAtLeastOneElementOfType(LockEvent.Lost.class);
	}

	/** A renewal that was sent before may still take the lock anew. */
	@Test
	void aLockWhoseDeadlineHasPassedUnnoticedIsReleasedUntilItsRequestsHaveNoEffect() {
		Hold hold = begin();
		hold.ownership().claim(this.time.now() + LEASE.toNanos() / 2, LEASE);
		this.time.advance(LEASE);
		hold.end(this.time.now());
		this.gateway.release(hold.ownership(), hold);
		this.time.settle();
		assertThat(hold.ownership().isLost()).isTrue();
		int releases = this.store.release.calls();
		assertThat(releases).isPositive();
		this.time.advance(LEASE);
		assertThat(this.store.release.calls()).isGreaterThan(releases);
		assertThat(this.threads.timetable().size()).isZero();
	}

	@Test
	void aNestedRequestWhoseHoldIsLostOnTheWayComesAgain() {
		HeldLease lease = Objects.requireNonNull(waiter().obtain(KEY, this.gateway));
		Waiter nested = waiter();
		this.gateway.arrive(KEY, nested);
		this.gateway.watchdog().disown(lease.hold().ownership());
		assertThat(nested.outcome()).isSameAs(lease.hold());
		assertThat(HeldLease.of(nested, KEY, this.gateway, false)).isNull();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
		assertThat(this.gateway.locks().size()).isZero();
	}

	private ThreadWaiter waiter() {
		return new ThreadWaiter(this.terms, Duration.ZERO, LockMode.EXCLUSIVE, null, null, Thread.currentThread());
	}

	private Hold begin() {
		OwnerToken owner = OwnerToken.random();
		AcquireResult.Grant grant = (AcquireResult.Grant) new StoreClient(this.store).acquire(KEY, owner, LEASE, false);
		Ownership ownership = new Ownership(KEY, owner, grant, LEASE, LEASE, this.time.now(), 0,
				this.threads.timetable());
		return ownership.beginHold(waiter(), this.time.now());
	}

}
