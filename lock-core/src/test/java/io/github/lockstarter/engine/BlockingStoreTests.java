// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.BlockingLockStore;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.testsupport.ManualInstances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A store that blocks its caller's thread until it answers, and fails when that thread is
 * interrupted, as drivers do.
 */
class BlockingStoreTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY).withWaitTime(Duration.ofMinutes(1));

	private static final List<LockRequest> MANY = IntStream.range(0, 100)
		.mapToObj((i) -> LockRequest.of("many", i))
		.toList();

	private static final EngineSettings DEFAULTS = EngineSettings.DEFAULTS;

	/** An interrupt is no sign of an outage, of which this registry tolerates none. */
	private static final EngineSettings NO_OUTAGES = new EngineSettings(DEFAULTS.waitTime(), DEFAULTS.leaseTime(),
			DEFAULTS.renewalsPerLease(), DEFAULTS.pollInterval(), DEFAULTS.pollIntervalWithoutMessages(),
			DEFAULTS.timeSlice(), DEFAULTS.shutdownTimeout(), Duration.ZERO);

	private final SlowStore store = new SlowStore();

	@RegisterExtension
	private final ManualInstances instances = new ManualInstances();

	private final DefaultLockRegistry registry = this.instances.registry(this.store, NO_OUTAGES, LockListener.NO_OP);

	@Test
	void anInterruptEndsTheWaitForItsAnswer() throws Exception {
		Call<Lease> caller = Callers.start(() -> this.registry.acquire(REQUEST));
		Awaitility.await().until(() -> this.store.asked.get() == 1);
		caller.thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(caller::get);
		assertThat(this.store.asked).hasValue(1);
		this.store.answer.countDown();
	}

	@Test
	void anInterruptThatIsPutOffIsKeptAndTheStoreAskedAgain() throws Exception {
		Lock lock = this.registry.lock(KEY);
		Call<Boolean> caller = Callers.start(() -> {
			lock.lock();
			lock.unlock();
			return Thread.interrupted();
		});
		Awaitility.await().until(() -> this.store.asked.get() == 1);
		caller.thread().interrupt();
		Awaitility.await().until(() -> this.store.asked.get() == 2);
		this.store.answer.countDown();
		assertThat(caller.get()).isTrue();
	}

	@Test
	void aCallerWhoseTimeIsOverDoesNotAskAgain() {
		Duration waitTime = Duration.ofSeconds(1);
		DefaultLockRegistry tolerant = this.instances.registry(this.store);
		Call<Lease> caller = Callers.start(() -> tolerant.acquire(REQUEST.withWaitTime(waitTime)));
		Awaitility.await().until(() -> this.store.asked.get() == 1);
		this.instances.time.advance(waitTime);
		this.store.failing = true;
		this.store.answer.countDown();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(caller::get);
		assertThat(this.store.asked).hasValue(1);
	}

	@Test
	void aCallerThatMustNotBlockDoesNotWaitForIt() {
		CompletableFuture<Lease> lease = this.registry.acquireAsync(REQUEST);
		assertThat(lease).isNotDone();
		this.store.answer.countDown();
		lease.join().close();
	}

	@Test
	void requestsThatBlockKeepNoReleaseFromAThread() {
		FaultInjectingStore silent = this.instances.store();
		DefaultLockRegistry others = this.instances.registry(silent);
		Lease lease = others.acquire(REQUEST);
		silent.acquire.loseRequests(this::isNotAnswered);
		MANY.forEach(others::acquireAsync);
		assertThat(lease.closeAsync()).succeedsWithin(Duration.ofSeconds(20));
		this.store.answer.countDown();
	}

	@Test
	void releasesThatBlockKeepNoRequestFromAThread() {
		FaultInjectingStore silent = this.instances.store();
		DefaultLockRegistry others = this.instances.registry(silent);
		List<Lease> leases = MANY.stream().map(others::acquire).toList();
		silent.release.loseRequests(this::isNotAnswered);
		leases.forEach(Lease::closeAsync);
		assertThat(others.acquireAsync(REQUEST)).succeedsWithin(Duration.ofSeconds(20));
		this.store.answer.countDown();
	}

	private boolean isNotAnswered() {
		Callers.await(this.store.answer);
		return false;
	}

	private static final class SlowStore extends BlockingLockStore {

		private final CountDownLatch answer = new CountDownLatch(1);

		private final AtomicInteger asked = new AtomicInteger();

		private volatile boolean failing;

		@Override
		protected AcquireResult tryAcquire(LeaseRequest request) {
			this.asked.incrementAndGet();
			try {
				this.answer.await();
				if (this.failing) {
					throw new IllegalStateException("in a test");
				}
				return new AcquireResult.Grant(1);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IllegalStateException("Interrupted", ex);
			}
		}

		@Override
		protected boolean tryRenew(LeaseRequest request) {
			return true;
		}

		@Override
		protected boolean tryRelease(LockKey key, OwnerToken owner) {
			return true;
		}

	}

}
