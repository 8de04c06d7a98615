// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Many readers or one writer, inside one JVM and across several.
 */
class SharedLockTests extends AbstractInstancesTests {

	private static final LockKey KEY = LockKey.of("prices", 1001);

	private static final LockRequest READ = LockRequest.of(KEY).withMode(LockMode.READ);

	private static final LockRequest WRITE = LockRequest.of(KEY).withMode(LockMode.WRITE);

	private static final LockRequest READ_NOW = READ.withWaitTime(Duration.ZERO);

	private static final LockRequest WRITE_NOW = WRITE.withWaitTime(Duration.ZERO);

	private final DefaultLockRegistry registry = registry(this.store, Duration.ofSeconds(30), Duration.ofMinutes(1));

	private final DefaultLockRegistry other = registry(new MemoryLockStore(this.memory), Duration.ofSeconds(30),
			Duration.ZERO);

	@AfterEach
	void nothingIsLeft() {
		advanceUntilNothingIsLeft(this.registry, this.other);
	}

	@Test
	void readersOfOneJvmShareOneGrantOfTheStore() throws Exception {
		CyclicBarrier together = new CyclicBarrier(8);
		List<Call<Long>> readers = new ArrayList<>();
		try (Lease first = this.registry.acquire(READ)) {
			for (int i = 0; i < 8; i++) {
				readers.add(Callers.start(() -> {
					try (Lease lease = this.registry.acquire(READ)) {
						together.await(20, TimeUnit.SECONDS);
						return lease.fencingToken();
					}
				}));
			}
			for (Call<Long> reader : readers) {
				assertThat(reader.get()).isGreaterThan(first.fencingToken());
			}
			assertThat(first.isHeld()).isTrue();
		}
		assertThat(readers).extracting((reader) -> reader.get()).doesNotHaveDuplicates();
		assertThat(this.store.acquire.calls()).isEqualTo(1);
		assertThat(this.store.release.calls()).isEqualTo(1);
		assertThat(this.events).filteredOn(LockEvent.Released.class::isInstance).hasSize(9);
	}

	@Test
	void readersThatWaitedForAWriterGoInTogether() throws Exception {
		CyclicBarrier together = new CyclicBarrier(4);
		List<Call<Integer>> readers = new ArrayList<>();
		try (Lease writer = this.registry.acquire(WRITE)) {
			for (int i = 0; i < 4; i++) {
				readers.add(Callers.start(() -> {
					try (Lease lease = this.registry.acquire(READ)) {
						return together.await(20, TimeUnit.SECONDS);
					}
				}).awaitParked());
			}
		}
		for (Call<Integer> reader : readers) {
			reader.get();
		}
		assertThat(this.store.acquire.calls()).isEqualTo(2);
	}

	@Test
	void aReaderExcludesAllOtherModesHereAndThere() throws Exception {
		try (Lease reader = this.registry.acquire(READ)) {
			for (LockMode mode : List.of(LockMode.EXCLUSIVE, LockMode.WRITE, LockMode.FAIR)) {
				LockRequest request = READ_NOW.withMode(mode);
				assertThat(this.other.tryAcquire(request)).isEmpty();
				assertThat(Callers.start(() -> this.registry.tryAcquire(request)).get()).isEmpty();
			}
		}
	}

	@Test
	void aWriterWaitsForTheReadersOfItsOwnJvmAndOfOthers() throws Exception {
		Lease here = this.registry.acquire(READ);
		Lease there = this.other.acquire(READ);
		Call<Long> writer = Callers.start(() -> {
			try (Lease lease = this.registry.acquire(WRITE)) {
				return lease.fencingToken();
			}
		}).awaitParked();
		here.close();
		writer.awaitParked();
		there.close();
		assertThat(writer.get()).isGreaterThan(there.fencingToken());
	}

	@Test
	void noReaderOvertakesAWriterThatWaitsInTheSameJvm() throws Exception {
		Lease first = this.registry.acquire(READ);
		Call<Long> writer = waiter(WRITE);
		assertThat(Callers.start(() -> this.registry.tryAcquire(READ_NOW)).get()).isEmpty();
		Call<Long> reader = waiter(READ);
		first.close();
		assertThat(reader.get()).isGreaterThan(writer.get());
	}

	@Test
	void aWriterInAnotherJvmIsNotStarvedByReadersThatFollowEachOther() throws Exception {
		try (DefaultLockRegistry busy = registry(new MemoryLockStore(this.memory), Duration.ofSeconds(30),
				Duration.ZERO)) {
			CountDownLatch written = new CountDownLatch(1);
			List<Call<Boolean>> readers = new ArrayList<>();
			Lease first = busy.acquire(READ);
			for (int i = 0; i < 3; i++) {
				readers.add(Callers.start(() -> {
					while (written.getCount() > 0) {
						busy.acquire(READ).close();
					}
					return true;
				}));
			}
			Call<Boolean> writer = Callers.start(() -> {
				this.other.acquire(WRITE).close();
				return true;
			}).awaitParked();
			first.close();
			writer.get();
			written.countDown();
			for (Call<Boolean> reader : readers) {
				reader.get();
			}
		}
	}

	@Test
	void readersAreNotStarvedByWritersThatFollowEachOther() throws Exception {
		CountDownLatch read = new CountDownLatch(1);
		List<Call<Boolean>> writers = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			writers.add(Callers.start(() -> {
				while (read.getCount() > 0) {
					this.registry.acquire(WRITE).close();
				}
				return true;
			}));
		}
		Callers.start(() -> {
			this.registry.acquire(READ).close();
			return true;
		}).get();
		Callers.start(() -> {
			this.other.acquire(READ).close();
			return true;
		}).get();
		read.countDown();
		for (Call<Boolean> writer : writers) {
			writer.get();
		}
	}

	@Test
	void aReaderIsReentrant() {
		try (Lease outer = this.registry.acquire(READ); Lease inner = this.registry.acquire(READ)) {
			assertThat(inner.fencingToken()).isEqualTo(outer.fencingToken());
		}
		assertThat(this.store.acquire.calls()).isEqualTo(1);
	}

	@Test
	void aReaderIsReentrantThoughAWriterWaits() throws Exception {
		Call<Long> writer;
		try (Lease outer = this.registry.acquire(READ)) {
			writer = waiter(WRITE);
			this.registry.acquire(READ_NOW).close();
		}
		writer.get();
	}

	@Test
	void aWriterMayReadAndExcludesOthersUntilBothAreReleased() throws Exception {
		Lease writer = this.registry.acquire(WRITE);
		Lease reader = this.registry.acquire(READ);
		writer.close();
		assertThat(reader.isHeld()).isTrue();
		assertThat(this.other.tryAcquire(READ_NOW)).isEmpty();
		reader.close();
		assertThat(this.other.tryAcquire(READ_NOW)).hasValueSatisfying(Lease::close);
	}

	@Test
	void aReaderThatWantsToWriteIsRefusedAndStillReads() {
		try (Lease reader = this.registry.acquire(READ)) {
			assertThatIllegalStateException().isThrownBy(() -> this.registry.acquire(WRITE))
				.withMessageContaining("'prices:1001' is held for reading")
				.withMessageContaining("mode WRITE");
			assertThat(reader.isHeld()).isTrue();
		}
	}

	@Test
	void aReaderWithAFixedLeaseTimeLosesItsShareAlone() throws Exception {
		CountDownLatch end = new CountDownLatch(1);
		Call<Boolean> overstaying = Callers.start(() -> {
			try (Lease lease = this.registry.acquire(READ.withLeaseTime(Duration.ofSeconds(1)))) {
				end.await();
				return true;
			}
		}).awaitParked();
		try (Lease lasting = this.registry.acquire(READ)) {
			this.time.advance(Duration.ofSeconds(1));
			assertThat(this.events).hasAtLeastOneElementOfType(LockEvent.Lost.class);
			assertThat(lasting.isHeld()).isTrue();
			assertThat(this.other.tryAcquire(WRITE_NOW)).isEmpty();
			end.countDown();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(overstaying::get);
			assertThat(lasting.isHeld()).isTrue();
		}
	}

	@Test
	void aShareIsRenewedForAsLongAsTheLongestReaderNeeds() throws Exception {
		Duration leaseTime = Duration.ofSeconds(6);
		try (DefaultLockRegistry renewing = registry(this.store, leaseTime, Duration.ofMinutes(1))) {
			CountDownLatch joined = new CountDownLatch(1);
			CountDownLatch end = new CountDownLatch(1);
			Lease brief = renewing.acquire(READ.withLeaseTime(leaseTime));
			Call<Boolean> lasting = Callers.start(() -> {
				try (Lease lease = renewing.acquire(READ)) {
					joined.countDown();
					end.await();
					return lease.isHeld();
				}
			});
			joined.await();
			brief.close();
			this.time.advance(leaseTime.multipliedBy(10));
			end.countDown();
			assertThat(lasting.get()).isTrue();
			assertThat(this.store.acquire.calls()).isEqualTo(1);
		}
	}

	@Test
	void allReadersLearnThatTheLockIsLost() throws Exception {
		try (DefaultLockRegistry renewing = registry(this.store, Duration.ofSeconds(30), Duration.ofMinutes(1))) {
			Lease one = renewing.acquire(READ);
			CountDownLatch joined = new CountDownLatch(1);
			CountDownLatch end = new CountDownLatch(1);
			Call<Boolean> two = Callers.start(() -> {
				try (Lease lease = renewing.acquire(READ)) {
					joined.countDown();
					end.await();
				}
				return true;
			});
			joined.await();
			this.memory.clear();
			this.time.advance(Duration.ofSeconds(10));
			assertThat(this.events).filteredOn(LockEvent.Lost.class::isInstance).hasSize(2);
			end.countDown();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(two::get);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(one::close);
			Awaitility.await().until(() -> renewing.activeLocks() == 0);
		}
	}

	@Test
	void aSharedLockCannotBeKeptByOneOfItsOwners() {
		try (Lease reader = this.registry.acquire(READ)) {
			assertThatIllegalStateException().isThrownBy(() -> reader.holdAtLeast(Duration.ofHours(1)))
				.withMessageContaining("is shared");
		}
	}

	@Test
	void aWriterThatGivesUpLetsReadersIn() throws Exception {
		try (Lease first = this.registry.acquire(READ)) {
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(
					() -> this.time.letPass(() -> this.other.acquire(WRITE.withWaitTime(Duration.ofSeconds(1)))));
			this.time.settle();
			try (DefaultLockRegistry third = registry(new MemoryLockStore(this.memory), Duration.ofSeconds(30),
					Duration.ZERO)) {
				assertThat(third.tryAcquire(READ)).hasValueSatisfying(Lease::close);
			}
		}
	}

	@Test
	void theJdkFormHasTwoSides() throws Exception {
		ReadWriteLock lock = this.registry.readWriteLock(KEY);
		ReadWriteLock there = this.other.readWriteLock(KEY);
		lock.readLock().lock();
		assertThat(there.readLock().tryLock()).isTrue();
		assertThat(Callers.start(() -> there.writeLock().tryLock()).get()).isFalse();
		assertThatIllegalStateException().isThrownBy(lock.writeLock()::lock);
		assertThat(lock.writeLock().tryLock()).isFalse();
		assertThat(lock.writeLock().tryLock(20, TimeUnit.SECONDS)).isFalse();
		assertThat(lock.readLock().tryLock()).isTrue();
		lock.readLock().unlock();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock.writeLock()::unlock);
		there.readLock().unlock();
		lock.readLock().unlock();
		lock.writeLock().lock();
		lock.readLock().lock();
		assertThat(there.readLock().tryLock()).isFalse();
		lock.writeLock().unlock();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock.writeLock()::unlock);
		assertThat(there.readLock().tryLock()).as("a reader that has written excludes others").isFalse();
		assertThat(lock.writeLock().tryLock()).as("it may write again").isTrue();
		lock.writeLock().unlock();
		lock.readLock().unlock();
		Lock exclusive = there.writeLock();
		assertThat(exclusive.tryLock(20, TimeUnit.SECONDS)).isTrue();
		exclusive.unlock();
	}

	private Call<Long> waiter(LockRequest request) throws InterruptedException {
		return Callers.start(() -> {
			try (Lease lease = this.registry.acquire(request)) {
				return lease.fencingToken();
			}
		}).awaitParked();
	}

}
