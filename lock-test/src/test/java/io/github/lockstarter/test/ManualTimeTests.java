// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.Time;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.testsupport.ManualInstances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class ManualTimeTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY).withWaitTime(Duration.ofSeconds(10));

	@RegisterExtension
	private final ManualInstances instances = new ManualInstances();

	private final ManualTime time = this.instances.time;

	private final DefaultLockRegistry here = this.instances.registry();

	private final DefaultLockRegistry there = this.instances.registry();

	@Test
	void whatIsDueIsDoneAtItsTimeInTheOrderOfAllSchedules() {
		long start = this.time.now();
		List<Long> done = new ArrayList<>();
		this.time.start(new Every(Duration.ofSeconds(3), done));
		this.time.start(new Every(Duration.ofSeconds(4), done));
		this.time.advance(Duration.ofSeconds(8));
		assertThat(done).containsExactly(3L, 4L, 6L, 8L);
		assertThat(Duration.ofNanos(this.time.now() - start)).isEqualTo(Duration.ofSeconds(8));
		this.time.advance(Duration.ofMinutes(1));
		assertThat(done).containsExactly(3L, 4L, 6L, 8L, 9L);
	}

	@Test
	void timePassesForAThreadOnlyUntilThatIsClosed() throws Exception {
		Lease held = this.there.acquire(REQUEST);
		try (ManualTime.Passing passing = this.time.letPass(); ManualTime.Passing inner = this.time.letPass()) {
			assertThat(this.here.tryAcquire(REQUEST)).isEmpty();
		}
		long closed = this.time.now();
		Call<?> holder = Callers.start(() -> {
			this.time.awaitParked(1);
			held.close();
			return true;
		});
		this.here.acquire(REQUEST).close();
		holder.get();
		assertThat(this.time.now()).isEqualTo(closed);
	}

	@Test
	void aLeaseIsRenewedWhileTimePassesAndAFixedOneExpiresOnTime() throws Exception {
		Lease renewed = this.here.acquire(LockRequest.of("renewed"));
		Lease fixed = this.here.acquire(REQUEST.withLeaseTime(Duration.ofMinutes(1)));
		CountDownLatch lost = new CountDownLatch(1);
		fixed.onLost((loss) -> lost.countDown());
		this.time.advance(Duration.ofSeconds(59));
		assertThat(fixed.isHeld()).isTrue();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(fixed.isHeld()).isFalse();
		assertThat(lost.getCount()).isZero();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(fixed::close);
		assertThat(renewed.isHeld()).isTrue();
		renewed.close();
	}

	@Test
	void aWaitOfAnotherThreadEndsOnTimeHoweverFarTimeIsMoved() throws Exception {
		try (Lease lease = this.there.acquire(REQUEST)) {
			Call<Lease> waiter = Callers.start(() -> this.here.acquire(REQUEST));
			this.time.awaitParked(1);
			this.time.advance(Duration.ofHours(1));
			this.time.awaitParked(0);
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(waiter::get)
				.satisfies((ex) -> assertThat(ex.getWaited()).isEqualTo(Duration.ofSeconds(10)));
		}
	}

	@Test
	void aWaiterTakesTheLockAtTheTimeOfItsReleaseHoweverFarTimeIsMoved() throws Exception {
		this.instances.holdElsewhere(KEY, Duration.ofSeconds(7));
		Call<Duration> waiter = Callers.start(() -> {
			long start = this.time.now();
			try (Lease lease = this.here.acquire(REQUEST.withLeaseTime(Duration.ofSeconds(5)))) {
				return Duration.ofNanos(this.time.now() - start);
			}
		});
		this.time.awaitParked(1);
		this.time.advance(Duration.ofHours(1));
		// The engine allows for a store that counts in milliseconds, unless it polls at
		// that moment
		assertThat(waiter.get()).isBetween(Duration.ofSeconds(7), Duration.ofMillis(7002));
	}

	@Test
	void aLockIsHandedOnWithoutTime() throws Exception {
		long start = this.time.now();
		List<Integer> order = new CopyOnWriteArrayList<>();
		List<Call<Boolean>> waiters = new ArrayList<>();
		Lease lease = this.here.acquire(REQUEST);
		for (int i = 1; i <= 4; i++) {
			int number = i;
			DefaultLockRegistry registry = (i <= 2) ? this.here : this.there;
			waiters.add(Callers.start(() -> {
				try (Lease held = registry.acquire(REQUEST)) {
					return order.add(number);
				}
			}));
			this.time.awaitParked(i);
		}
		lease.close();
		for (Call<Boolean> waiter : waiters) {
			assertThat(waiter.get()).isTrue();
		}
		assertThat(order).containsSubsequence(1, 2).containsSubsequence(3, 4);
		assertThat(this.time.now()).isEqualTo(start);
	}

	@Test
	void aThreadThatParksAfterItsDeadlineGoesOnAtOnce() {
		long deadline = this.time.now() + 1;
		this.time.advance(Duration.ofSeconds(1));
		this.time.parkUntil(this, deadline);
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aThreadThatNeverNoticesTheEndOfItsWaitFails(boolean interrupted) {
		long deadline = this.time.now() + (interrupted ? 1 : 0);
		Call<Boolean> call = Callers.start(() -> {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
			while (true) {
				this.time.parkUntil(this, deadline);
			}
		});
		assertThatIllegalStateException().isThrownBy(call::get)
			.withMessage("Neither its deadline nor an interrupt ends the wait");
	}

	@Test
	void aThreadThatWasUnparkedBeforeGoesOnAtOnce() {
		this.time.unpark(Thread.currentThread());
		this.time.parkUntil(this, this.time.now() + 1);
		assertThat(this.time.now()).isEqualTo(this.time.getAsLong());
	}

	@Test
	void anInterruptEndsAWaitAndKeepsItsFlag() throws Exception {
		try (Lease lease = this.there.acquire(REQUEST)) {
			Call<Lease> waiter = Callers.start(() -> this.here.acquire(REQUEST));
			this.time.awaitParked(1);
			waiter.thread().interrupt();
			assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(waiter::get);
			this.time.awaitParked(0);
		}
	}

	@Test
	void aThreadLetsTimePassForItsOwnWait() {
		try (Lease lease = this.there.acquire(REQUEST)) {
			long start = this.time.now();
			assertThat(this.time.letPass(() -> this.here.tryAcquire(REQUEST))).isEmpty();
			assertThat(Duration.ofNanos(this.time.now() - start)).isEqualTo(Duration.ofSeconds(10));
		}
		this.instances.holdElsewhere(KEY, Duration.ofSeconds(7));
		this.time.letPass(() -> this.here.acquire(REQUEST).close());
	}

	@Test
	void timePassesUntilTheLastStretchIsClosed() {
		try (Lease lease = this.there.acquire(REQUEST);
				ManualTime.Passing first = this.time.letPass();
				ManualTime.Passing second = this.time.letPass()) {
			first.close();
			first.close();
			assertThat(this.here.tryAcquire(REQUEST)).isEmpty();
		}
	}

	@Test
	void timeDoesNotPassForAThreadThatOnlyAnotherOneLetsGo() throws Exception {
		long start = this.time.now();
		Call<Boolean> call = Callers.start(() -> this.time.letPass(() -> {
			this.time.parkUntil(this, start + Long.MAX_VALUE / 2);
			return true;
		}));
		this.time.awaitParked(1);
		this.time.unpark(call.thread());
		assertThat(call.get()).isTrue();
		assertThat(this.time.now()).isEqualTo(start);
	}

	@Test
	void aRegistryThatIsClosedDoesNothingMore() {
		Lease lease = this.here.acquire(REQUEST);
		long start = this.time.now();
		this.time.letPass(this.here::close);
		assertThat(Duration.ofNanos(this.time.now() - start)).isEqualTo(Duration.ofSeconds(20));
		assertThat(lease.isHeld()).isTrue();
		this.time.advance(Duration.ofMinutes(1));
		assertThat(lease.isHeld()).isFalse();
		assertThat(this.instances.memory.isEmpty()).isTrue();
	}

	@Test
	void randomNumbersAreAlwaysTheSame() {
		ManualTime other = new ManualTime();
		for (int i = 0; i < 100; i++) {
			assertThat(this.time.random(10)).isEqualTo(other.random(10)).isBetween(0L, 9L);
		}
	}

	/** Notes the seconds after which it is done. */
	private final class Every implements Time.Schedule {

		private final long start = ManualTimeTests.this.time.now();

		private final long interval;

		private final List<Long> done;

		private long next;

		Every(Duration interval, List<Long> done) {
			this.interval = interval.toNanos();
			this.next = this.start + this.interval;
			this.done = done;
		}

		@Override
		public void runDue() {
			long now = ManualTimeTests.this.time.now();
			if (this.next - now <= 0) {
				this.done.add(Duration.ofNanos(now - this.start).toSeconds());
				this.next += this.interval;
			}
		}

		@Override
		public long nextDue() {
			return this.next;
		}

		@Override
		public boolean isClosed() {
			return this.done.size() >= 5;
		}

	}

}
