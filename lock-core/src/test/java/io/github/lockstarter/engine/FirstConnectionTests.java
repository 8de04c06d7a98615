// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.testsupport.CapturedLog;
import io.github.lockstarter.testsupport.CapturedLog;
import io.github.lockstarter.testsupport.ManualInstances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The first requests to a store whose connection takes longer than the leases and the
 * wait times of callers.
 */
class FirstConnectionTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(1);

	private static final LockRequest AT_ONCE = LockRequest.of("stock", 1001)
		.withWaitTime(Duration.ZERO)
		.withLeaseTime(LEASE_TIME);

	@RegisterExtension
	private final ManualInstances instances = new ManualInstances();

	private final ManualTime time = this.instances.time;

	private final CompletableFuture<Void> connection = new CompletableFuture<>();

	private final AtomicInteger connected = new AtomicInteger();

	private final AtomicInteger asked = new AtomicInteger();

	private final DefaultLockRegistry registry = this.instances
		.registry(new DirectStore(new MemoryLockStore(this.instances.memory)) {

			@Override
			public CompletionStage<?> connect() {
				FirstConnectionTests.this.connected.incrementAndGet();
				return FirstConnectionTests.this.connection;
			}

			@Override
			public CompletionStage<AcquireResult> acquire(LeaseRequest request, boolean wait) {
				FirstConnectionTests.this.asked.incrementAndGet();
				return super.acquire(request, wait);
			}

		});

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aCallWithoutWaitTimeWaitsForItWhetherItComesOrNot(boolean comes) throws Exception {
		Call<Lease> call = Callers.start(() -> this.registry.acquire(AT_ONCE));
		this.time.awaitParked(1);
		connect(comes);
		assertFull(call.get());
	}

	@Test
	void noCallWaitsForEverForAConnectionThatNeitherComesNorFails() throws Exception {
		Call<Lease> call = Callers.start(() -> this.registry.acquire(AT_ONCE));
		this.time.awaitParked(1);
		this.time.advance(Duration.ofMinutes(1));
		assertFull(call.get());
	}

	@Test
	void aCallWithoutAThreadIsAnsweredWithAFullLease() {
		CompletableFuture<Lease> lease = this.registry.acquireAsync(AT_ONCE);
		connect(true);
		assertFull(lease.join());
	}

	@Test
	void aCallForSeveralLocksWaitsForTheFirstConnection() throws Exception {
		List<LockRequest> request = Stream.of(1, 2)
			.map((id) -> LockRequest.of("stock", id).withWaitTime(Duration.ZERO).withLeaseTime(LEASE_TIME))
			.toList();
		Call<LeaseSet> call = Callers.start(() -> this.registry.acquireAll(request));
		this.time.awaitParked(1);
		connect(true);
		try (LeaseSet leases = call.get()) {
			assertThat(leases.all()).hasSize(2).allMatch(Lease::isHeld);
		}
	}

	@Test
	void anInterruptEndsTheWaitForItAndNobodyAsks() throws Exception {
		Call<Lease> call = Callers.start(() -> this.registry.acquire(AT_ONCE));
		this.time.awaitParked(1);
		call.thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(call::get);
		connect(true);
		this.time.settle();
		assertThat(this.asked).hasValue(0);
		assertThat(this.registry.activeLocks()).isZero();
		assertFull(this.registry.acquire(AT_ONCE));
	}

	@Test
	void aShutdownDoesNotWaitForIt() throws Exception {
		Call<Lease> call = Callers.start(() -> this.registry.acquire(AT_ONCE));
		this.time.awaitParked(1);
		long start = this.time.now();
		this.time.letPass(this.registry::drain);
		assertThat(this.time.now()).isEqualTo(start);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(call::get);
	}

	@Test
	void itIsOpenedOnceAndInTheBackgroundWhenTheRegistryOpens() {
		this.registry.open();
		this.registry.open();
		assertThat(this.connected).hasValue(1);
		connect(false);
		assertFull(this.registry.acquire(AT_ONCE));
		assertThat(this.connected).hasValue(1);
	}

	@Test
	@ExtendWith(CapturedLog.Extension.class)
	void aFailureInTheBackgroundIsLoggedOnce(CapturedLog log) {
		this.registry.open();
		connect(false);
		assertThat(log.toString().lines().filter((line) -> line.contains("cannot be asked: refused"))).hasSize(1);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	@ExtendWith(CapturedLog.Extension.class)
	void aFailedFirstConnectionIsAnOutageUnlessTheEndHasBegun(boolean end, CapturedLog log) {
		this.registry.open();
		if (end) {
			this.registry.drain();
		}
		connect(false);
		assertThat(log.toString().contains("cannot be asked: refused")).isEqualTo(!end);
	}

	@Test
	void aGrantAfterTheEndOfItsLeaseIsNoFailureToAsk() {
		FaultInjectingStore store = this.instances.store();
		store.acquire.loseAnswers(() -> {
			this.time.advance(LEASE_TIME);
			return false;
		});
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.instances.registry(store).acquire(AT_ONCE))
			.withMessage("Lock 'stock:1001' is unavailable: the store granted it later than its lease of 1000 ms;"
					+ " nothing was executed");
	}

	private void connect(boolean comes) {
		this.time.advance(LEASE_TIME.multipliedBy(5));
		if (comes) {
			this.connection.complete(null);
		}
		else {
			this.connection.completeExceptionally(new IllegalStateException("refused"));
		}
	}

	/** The lease has begun after the connection was opened. */
	private void assertFull(Lease lease) {
		assertThat(lease.remaining()).isGreaterThan(LEASE_TIME.minusMillis(20));
		lease.close();
	}

}
