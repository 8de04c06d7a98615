// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.testsupport.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Warnings of locks that are held or waited for longer than expected.
 */
@ExtendWith(CapturedLog.Extension.class)
class WarningsTests extends AbstractInstancesTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	/** A look at each lease comes at least as often. */
	private static final Duration LOOK = Duration.ofSeconds(10);

	private static final Duration AFTER_HOLD = EngineSettings.DEFAULTS.warnAfterHold();

	private final DefaultLockRegistry registry = this.instances.registry(this.store);

	@Test
	void aLongHoldIsWarnedOfWithTheStackOfItsThread(CapturedLog log) throws Exception {
		CountDownLatch end = new CountDownLatch(1);
		Callers.Call<Long> holder = Callers.start(() -> {
			try (Lease lease = this.registry.acquire(REQUEST)) {
				end.await();
				return lease.fencingToken();
			}
		}).awaitParked();
		this.time.advance(AFTER_HOLD.minusSeconds(1));
		assertThat(log).isEmpty();
		this.time.advance(LOOK);
		assertThat(warnings(log)).isOne();
		end.countDown();
		assertThat(log)
			.contains("Long hold of lock 'stock:1001' (fencing token " + holder.get() + "): thread '"
					+ holder.thread().getName() + "' has held it for 6")
			.contains("The thread is at:")
			.containsPattern("\tat .*CountDownLatch\\.await\\(.*\n\tat .*WarningsTests\\.")
			.doesNotContain("never closed");
	}

	@Test
	void aLongHoldIsWarnedOfAgainEachTimeItsLengthHasDoubled(CapturedLog log) {
		Lease lease = this.registry.acquire(REQUEST);
		this.time.advance(AFTER_HOLD.plus(LOOK));
		assertThat(warnings(log)).isOne();
		this.time.advance(AFTER_HOLD);
		assertThat(warnings(log)).isEqualTo(2);
		this.time.advance(AFTER_HOLD);
		assertThat(warnings(log)).isEqualTo(2);
		this.time.advance(AFTER_HOLD);
		assertThat(warnings(log)).isEqualTo(3);
		lease.close();
	}

	@Test
	void aNewHoldOfTheSameOwnershipBeginsAnew(CapturedLog log) throws Exception {
		Lease first = this.registry.acquire(REQUEST);
		CompletableFuture<Lease> second = this.registry.acquireAsync(REQUEST.withWaitTime(AFTER_HOLD));
		this.time.advance(AFTER_HOLD.minus(LOOK));
		first.close();
		Lease lease = second.get();
		this.time.advance(AFTER_HOLD.minusSeconds(1));
		assertThat(log).doesNotContain("Long hold");
		this.time.advance(LOOK);
		assertThat(log).contains("a future has held it").contains("Its work is not complete, or its lease was never");
		lease.close();
	}

	@Test
	void aLeaseWhoseThreadHasEndedMayBeForgotten(CapturedLog log) throws Exception {
		Callers.Call<Lease> forgetful = Callers.start(() -> this.registry.acquire(REQUEST));
		Lease lease = forgetful.get();
		forgetful.thread().join();
		this.time.advance(AFTER_HOLD.plus(LOOK));
		assertThat(log).contains("The thread has ended").contains("or its lease was never closed");
		lease.close();
	}

	@Test
	void aLeaseWhoseThreadWaitsForOtherWorkMayBeForgotten(CapturedLog log) throws Exception {
		ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());
		try {
			Thread thread = pool.submit(Thread::currentThread).get();
			Lease lease = pool.submit(() -> this.registry.acquire(REQUEST)).get();
			Awaitility.await().until(() -> thread.getState() == Thread.State.WAITING);
			this.time.advance(AFTER_HOLD.plus(LOOK));
			assertThat(log).contains("The thread waits for work").contains("or its lease was never closed");
			lease.close();
		}
		finally {
			pool.shutdown();
		}
	}

	@Test
	void workInAMethodThatIsNamedAsInAPoolIsNoWaitForWork(CapturedLog log) throws Exception {
		CountDownLatch end = new CountDownLatch(1);
		Callers.Call<Long> holder = Callers.start(() -> getTask(end)).awaitParked();
		this.time.advance(AFTER_HOLD.plus(LOOK));
		end.countDown();
		holder.get();
		assertThat(log).contains("The thread is at:").doesNotContain("waits for work");
	}

	private long getTask(CountDownLatch end) throws Exception {
		try (Lease lease = this.registry.acquire(REQUEST)) {
			end.await();
			return lease.fencingToken();
		}
	}

	@Test
	void aFixedLeaseIsNotForgottenButItsEndIsNamed(CapturedLog log) throws Exception {
		Callers.Call<Lease> holder = Callers
			.start(() -> this.registry.acquire(REQUEST.withLeaseTime(Duration.ofMinutes(10))));
		Lease lease = holder.get();
		holder.thread().join();
		this.time.advance(AFTER_HOLD.plus(LOOK));
		assertThat(log).containsPattern("has held it for 6\\d s, and it ends by itself in 52\\d s\\. The thread has")
			.doesNotContain("never closed");
		lease.close();
	}

	@Test
	void eachOwnerOfASharedLockIsWarnedOf(CapturedLog log) {
		LockRequest reader = REQUEST.withMode(LockMode.READ);
		Lease first = this.registry.acquire(reader.withOwner("first"));
		this.time.advance(LOOK);
		Lease second = this.registry.acquire(reader.withOwner("second"));
		this.time.advance(AFTER_HOLD);
		assertThat(log).contains("'stock:1001' (READ, fencing token " + first.fencingToken() + "): first has held")
			.doesNotContain("second");
		this.time.advance(LOOK);
		assertThat(log).contains("second has held it");
		first.close();
		second.close();
	}

	@Test
	void aLongWaitNamesTheOtherInstanceThatHoldsTheLock(CapturedLog log) throws Exception {
		OwnerToken other = this.instances.holdElsewhere(KEY, Duration.ofMinutes(2));
		CompletableFuture<Lease> waiter = this.registry.acquireAsync(REQUEST.withWaitTime(Duration.ofMinutes(3)));
		CompletableFuture<Lease> next = this.registry.acquireAsync(REQUEST.withWaitTime(Duration.ofMinutes(3)));
		this.time.advance(Duration.ofSeconds(4));
		assertThat(log).isEmpty();
		// To the threshold, and then to the next request, at most 1.2 s
		this.time.advance(Duration.ofMillis(2200));
		assertThat(log)
			.containsPattern("Long wait for lock 'stock:1001': a future has waited \\d{4} ms as the first of 2 in this"
					+ " instance\\. It is held by " + Pattern.quote(OwnerToken.instance(null))
					+ ", whose lease ends in 11\\d s unless renewed")
			.doesNotContain(other.value().substring(other.value().lastIndexOf('.')));
		this.time.advance(Duration.ofSeconds(50));
		assertThat(warnings(log)).isOne();
		this.time.advance(LOOK);
		assertThat(warnings(log)).isEqualTo(2);
		this.instances.releaseElsewhere(KEY, other);
		waiter.get().close();
		next.get().close();
	}

	@Test
	void aLongWaitNamesTheThreadOfThisInstanceThatHoldsTheLock(CapturedLog log) throws Exception {
		Lease lease = this.registry.acquire(REQUEST);
		CompletableFuture<Lease> waiter = this.registry.acquireAsync(REQUEST.withWaitTime(AFTER_HOLD));
		this.time.advance(LOOK);
		assertThat(log).contains("a future has waited ")
			.contains("It is held by thread '" + Thread.currentThread().getName() + "' of this instance (fencing token "
					+ lease.fencingToken() + "), for ");
		lease.close();
		waiter.get().close();
	}

	@Test
	void aLongWaitBehindManyShortHoldsIsWarnedOf(CapturedLog log) throws Exception {
		Lease lease = this.registry.acquire(REQUEST);
		List<CompletableFuture<Lease>> waiters = new ArrayList<>();
		for (int i = 0; i < 6; i++) {
			waiters.add(this.registry.acquireAsync(REQUEST.withOwner("owner " + i).withWaitTime(AFTER_HOLD)));
		}
		for (CompletableFuture<Lease> waiter : waiters) {
			this.time.advance(Duration.ofSeconds(1));
			lease.close();
			lease = waiter.get();
		}
		assertThat(warnings(log)).isOne();
		assertThat(log).contains("owner 5 has waited 5000 ms. It is held by owner 4 of this instance (fencing token ");
		lease.close();
	}

	@Test
	void ofAWaitThatEndsOnlyItsExceptionTells(CapturedLog log) {
		this.instances.holdElsewhere(KEY, Duration.ofMinutes(2));
		CompletableFuture<Lease> waiter = this.registry.acquireAsync(REQUEST.withWaitTime(Duration.ofSeconds(5)));
		this.time.advance(LOOK);
		assertThat(waiter).isCompletedExceptionally();
		assertThat(log).isEmpty();
	}

	@Test
	void aMinuteHasTenWarningsAndTheNextOneSaysHowManyWereLeftOut(CapturedLog log) {
		List<Lease> leases = new ArrayList<>();
		for (int i = 0; i < 30; i++) {
			leases.add(this.registry.acquire(LockRequest.of("stock", i)));
		}
		this.time.advance(AFTER_HOLD.plus(LOOK));
		assertThat(warnings(log)).isEqualTo(10);
		assertThat(log)
			.containsOnlyOnce("(further warnings of long holds and waits are left out until the minute is over)");
		leases.forEach(Lease::close);
		Lease last = this.registry.acquire(REQUEST);
		this.time.advance(AFTER_HOLD.plus(LOOK));
		assertThat(warnings(log)).isEqualTo(11);
		assertThat(log).containsOnlyOnce("(warnings of long holds and waits left out before this one: 20)");
		last.close();
	}

	@Test
	void withoutAThresholdThereAreNoWarnings(CapturedLog log) throws Exception {
		DefaultLockRegistry quiet = this.instances.registry(this.store,
				EngineSettings.DEFAULTS.withWarnings(Duration.ZERO, Duration.ZERO), LockListener.NO_OP);
		Lease lease = quiet.acquire(REQUEST);
		CompletableFuture<Lease> waiter = quiet.acquireAsync(REQUEST.withWaitTime(Duration.ofMinutes(5)));
		this.time.advance(Duration.ofMinutes(4));
		lease.close();
		waiter.get().close();
		assertThat(log).isEmpty();
	}

	@Test
	void aHoldIsWarnedOfThoughWaitsAreNot(CapturedLog log) {
		DefaultLockRegistry ofHolds = this.instances.registry(this.store,
				EngineSettings.DEFAULTS.withWarnings(Duration.ZERO, AFTER_HOLD), LockListener.NO_OP);
		Lease lease = ofHolds.acquire(REQUEST);
		this.time.advance(AFTER_HOLD.plus(LOOK));
		assertThat(log).contains("Long hold");
		lease.close();
	}

	/** An owner with a slow equals() takes the guard of its lock. */
	@Test
	void aLookForWarningsDoesNotDelayTheRenewalOfALockWhoseGuardIsTaken(CapturedLog log) throws Exception {
		CountDownLatch comparing = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		Object slow = new Object() {
			@Override
			public boolean equals(Object other) {
				comparing.countDown();
				Callers.await(end);
				return this == other;
			}

			@Override
			public int hashCode() {
				return 1;
			}
		};
		Lease lease = this.registry.acquire(REQUEST);
		this.time.advance(AFTER_HOLD.minusSeconds(1));
		Callers.Call<Boolean> taking = Callers
			.start(() -> this.registry.tryAcquire(REQUEST.withOwner(slow).withWaitTime(Duration.ZERO)).isEmpty());
		comparing.await();
		int renewals = this.store.renew.calls();
		Callers.start(() -> {
			this.time.advance(LOOK);
			return true;
		}).get();
		assertThat(this.store.renew.calls()).isGreaterThan(renewals);
		assertThat(log).isEmpty();
		end.countDown();
		assertThat(taking.get()).isTrue();
		this.time.advance(LOOK);
		assertThat(warnings(log)).isOne();
		lease.close();
	}

	private static int warnings(CapturedLog log) {
		return log.toString().split("Long (hold|wait)", -1).length - 1;
	}

}
