// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Readers that arrive at a lock after another reader in their JVM has held it for long.
 * It may hold the lock for hours, so no past event may keep them out.
 */
class LateReaderTests extends AbstractInstancesTests {

	private static final LockKey KEY = LockKey.of("prices", 1001);

	private static final LockRequest READ = LockRequest.of(KEY).withMode(LockMode.READ);

	private static final LockRequest WRITE = LockRequest.of(KEY).withMode(LockMode.WRITE);

	private static final Duration SLICE = Duration.ofSeconds(1);

	/** Twenty renewals, one each second. */
	private static final Duration RENEWED_LEASE_TIME = Duration.ofSeconds(20);

	private static final LockRequest READ_NOW = READ.withWaitTime(Duration.ZERO);

	private final DefaultLockRegistry registry = registry(this.store, Duration.ofSeconds(30));

	private final DefaultLockRegistry elsewhere = registry(new MemoryLockStore(this.memory), Duration.ofSeconds(30));

	@AfterEach
	void nothingIsLeft() {
		advanceUntilNothingIsLeft(this.registry, this.elsewhere);
	}

	@Test
	void aWriterElsewhereThatHasGivenUpIsNotInTheWay() throws Exception {
		try (Lease lasting = this.registry.acquire(READ)) {
			Call<Lease> writer = Callers.start(() -> this.elsewhere.acquire(WRITE)).awaitParked();
			advanceUntil(() -> !isJoinedAtOnce());
			Call<Boolean> late = reader(this.registry);
			late.awaitParked();
			writer.thread().interrupt();
			assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(writer::get);
			assertThat(inTime(late)).isTrue();
			assertThat(isJoinedAtOnce()).isTrue();
			assertThat(lasting.isHeld()).isTrue();
		}
	}

	@Test
	void aWriterElsewhereThatGivesUpAfterTheFirstReaderHasAskedIsNotInTheWay() throws Exception {
		try (Lease lasting = this.registry.acquire(READ)) {
			Call<Lease> writer = Callers.start(() -> this.elsewhere.acquire(WRITE)).awaitParked();
			this.time.advance(SLICE);
			int asked = this.store.acquire.calls();
			Call<Boolean> late = reader(this.registry);
			late.awaitParked();
			advanceUntil(() -> this.store.acquire.calls() > asked);
			writer.thread().interrupt();
			assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(writer::get);
			assertThat(inTime(late)).isTrue();
			assertThat(lasting.isHeld()).isTrue();
		}
	}

	@Test
	void aWriterElsewhereThatStillWaitsIsInTheWay() throws Exception {
		Lease lasting = this.registry.acquire(READ);
		Call<Boolean> writer = Callers.start(() -> {
			this.elsewhere.acquire(WRITE).close();
			return true;
		}).awaitParked();
		advanceUntil(() -> !isJoinedAtOnce());
		Call<Lease> late = Callers.start(() -> this.registry.acquire(READ.withWaitTime(Duration.ofSeconds(3))));
		assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> inTime(late));
		lasting.close();
		assertThat(inTime(writer)).isTrue();
	}

	@Test
	void aWriterOfTheSameJvmThatHasGivenUpIsNotInTheWay() throws Exception {
		try (Lease lasting = this.registry.acquire(READ)) {
			Call<Lease> writer = Callers.start(() -> this.registry.acquire(WRITE)).awaitParked();
			Call<Boolean> late = reader(this.registry).awaitParked();
			writer.thread().interrupt();
			assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(writer::get);
			assertThat(inTime(late)).isTrue();
			assertThat(lasting.isHeld()).isTrue();
		}
	}

	@Test
	void anUncertainLeaseOfAReaderIsNotInTheWay() throws Exception {
		try (DefaultLockRegistry renewing = registry(this.store, RENEWED_LEASE_TIME)) {
			this.store.renew.loseRequests(() -> true);
			try (Lease lasting = renewing.acquire(READ)) {
				this.time.advance(Duration.ofSeconds(1));
				assertThat(this.events).hasAtLeastOneElementOfType(LockEvent.Suspect.class);
				assertThat(inTime(reader(renewing))).isTrue();
				assertThat(lasting.isHeld()).isTrue();
			}
		}
	}

	@Test
	void aFixedLeaseOfWhichLittleIsLeftIsExtendedForLateReaders() throws Exception {
		Lease lasting = this.registry.acquire(READ.withLeaseTime(Duration.ofSeconds(10)));
		// Less than a third is left, with which no lock is handed on
		this.time.advance(Duration.ofSeconds(7));
		assertThat(inTime(reader(this.registry))).isTrue();
		assertThat(lasting.isHeld()).isTrue();
		lasting.close();
	}

	@Test
	void anyNumberOfReadersMayFollowEachOther() throws Exception {
		try (Lease lasting = this.registry.acquire(READ)) {
			assertThat(Callers.start(() -> {
				for (int i = 0; i < 5000; i++) {
					this.registry.acquire(READ_NOW).close();
				}
				return true;
			}).get()).isTrue();
			assertThat(lasting.isHeld()).isTrue();
		}
		assertThat(this.store.acquire.calls()).isEqualTo(1);
	}

	@Test
	void aLaterWriterHasALargerFencingTokenThanAnyOfThem() throws Exception {
		long last = 0;
		try (Lease lasting = this.registry.acquire(READ)) {
			last = Callers.start(() -> {
				long token = 0;
				for (int i = 0; i < 5000; i++) {
					try (Lease lease = this.registry.acquire(READ_NOW)) {
						token = lease.fencingToken();
					}
				}
				return token;
			}).get();
		}
		try (Lease writer = this.registry.acquire(WRITE)) {
			assertThat(writer.fencingToken()).isGreaterThan(last);
		}
	}

	@Test
	void theShareIsAsShortAgainAsTheRemainingReadersWantIt() throws Exception {
		MemoryLockStore store = new MemoryLockStore(this.memory);
		try (DefaultLockRegistry renewing = registry(this.store, RENEWED_LEASE_TIME);
				Lease lasting = renewing.acquire(READ)) {
			CountDownLatch end = new CountDownLatch(1);
			Call<Boolean> longer = Callers.start(() -> {
				try (Lease lease = renewing.acquire(READ.withLeaseTime(Duration.ofHours(1)))) {
					end.await();
					return true;
				}
			});
			advanceUntil(() -> remaining(store).compareTo(Duration.ofMinutes(10)) > 0);
			end.countDown();
			longer.get();
			advanceUntil(() -> remaining(store).compareTo(RENEWED_LEASE_TIME) <= 0);
			assertThat(lasting.isHeld()).isTrue();
		}
	}

	@Test
	void nobodyJoinsWhileTheRegistryShutsDown() throws Exception {
		Lease lasting = this.registry.acquire(READ);
		Call<Boolean> shutdown = Callers.start(() -> {
			this.registry.drain();
			return true;
		}).awaitParked();
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(Callers.start(() -> this.registry.acquire(READ_NOW))::get)
			.withMessageContaining("shutting down");
		assertThat(lasting.isHeld()).isTrue();
		this.registry.acquire(READ_NOW).close();
		lasting.close();
		assertThat(shutdown.get()).isTrue();
	}

	private boolean isJoinedAtOnce() throws Exception {
		return Callers.start(() -> this.registry.tryAcquire(READ_NOW).map((lease) -> {
			lease.close();
			return true;
		}).orElse(false)).get();
	}

	private static Call<Boolean> reader(DefaultLockRegistry registry) {
		return Callers.start(() -> {
			try (Lease lease = registry.acquire(READ)) {
				return lease.isHeld();
			}
		});
	}

	/** Let time pass until a call is over. */
	private <T> T inTime(Call<T> call) throws Exception {
		advanceUntil(call.result()::isDone);
		return call.get();
	}

	private void advanceUntil(Callable<Boolean> condition) {
		Awaitility.await().until(() -> {
			this.time.advance(Duration.ofSeconds(1));
			return condition.call();
		});
	}

	private static Duration remaining(LockStore store) {
		return ((AcquireResult.Refusal) new StoreClient(store).acquire(KEY, OwnerToken.random(), Duration.ofSeconds(1),
				false))
			.remaining();
	}

	private DefaultLockRegistry registry(LockStore store, Duration leaseTime) {
		return registry(store, leaseTime, 20, SLICE);
	}

}
