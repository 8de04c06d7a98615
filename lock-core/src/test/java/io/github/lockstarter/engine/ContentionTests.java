// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.StoreClient;
import io.github.lockstarter.testsupport.ManualInstances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a caller is told about the owner that holds its lock.
 */
class ContentionTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY).withWaitTime(Duration.ofSeconds(10));

	private static final Duration FIXED = Duration.ofMinutes(1);

	@RegisterExtension
	final ManualInstances instances = new ManualInstances();

	private final DefaultLockRegistry holding = registry("orders@web-7f9c:1");

	private LockEvent.Contended event;

	private final DefaultLockRegistry waiting = registry("orders@web-x2p4:1");

	private DefaultLockRegistry registry(String name) {
		return this.instances.registry(this.instances.store(), EngineSettings.DEFAULTS.withInstanceName(name),
				(event) -> this.event = (event instanceof LockEvent.Contended contended) ? contended : this.event);
	}

	@Test
	void theCallerIsToldWhichInstanceHoldsTheLockAndForHowLong() throws Exception {
		try (Lease lease = this.holding.acquire(REQUEST.withLeaseTime(FIXED))) {
			Call<Lease> other = Callers.start(() -> this.waiting.acquire(REQUEST));
			this.instances.time.awaitParked(1);
			this.instances.time.advance(Duration.ofSeconds(10));
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(other::get)
				.withMessage("Lock 'stock:1001' did not become free within 10 s; it is held by orders@web-7f9c:1,"
						+ " whose lease ends in 50 s unless renewed; nothing was executed")
				.satisfies((ex) -> assertThat(ex.getHolder()).isEqualTo("orders@web-7f9c:1"))
				.satisfies((ex) -> assertThat(ex.getRemaining()).isEqualTo(Duration.ofSeconds(50)));
			assertThat(this.event.holder()).isEqualTo("orders@web-7f9c:1");
		}
	}

	@Test
	void aWaiterBehindAnotherOneIsToldAsWell() throws Exception {
		try (Lease lease = this.holding.acquire(REQUEST.withLeaseTime(FIXED))) {
			Call<Lease> first = Callers.start(() -> this.waiting.acquire(REQUEST));
			this.instances.time.awaitParked(1);
			this.instances.time.advance(Duration.ofMillis(400));
			assertHeldBy("orders@web-7f9c:1", Duration.ofMillis(59_600),
					() -> this.waiting.acquire(REQUEST.withWaitTime(Duration.ZERO)));
			this.instances.time.advance(Duration.ofMillis(9_600));
			assertHeldBy("orders@web-7f9c:1", Duration.ofSeconds(50), first::get);
		}
	}

	@Test
	void aLockThatItsOwnInstanceHoldsIsHeldByThat() throws Exception {
		try (Lease lease = this.holding.acquire(REQUEST.withLeaseTime(FIXED))) {
			Call<Lease> other = Callers.start(() -> this.holding.acquire(REQUEST));
			this.instances.time.awaitParked(1);
			this.instances.time.advance(Duration.ofSeconds(10));
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(other::get)
				.satisfies((ex) -> assertThat(ex.getHolder()).isEqualTo("orders@web-7f9c:1"));
		}
	}

	@Test
	void theOwnInstanceIsNotNamedWhenItHasLostTheLock() throws Exception {
		Lease lease = this.holding.acquire(REQUEST);
		Call<Lease> other = Callers.start(() -> this.holding.acquire(REQUEST.withWaitTime(Duration.ofSeconds(20))));
		this.instances.time.awaitParked(1);
		this.instances.memory.clear();
		OwnerToken owner = this.instances.holdElsewhere(KEY, FIXED);
		this.instances.time.advance(Duration.ofSeconds(10));
		assertThat(lease.isHeld()).isFalse();
		this.instances.time.awaitParked(1);
		this.instances.time.advance(Duration.ofSeconds(10));
		assertHeldBy(owner.toString(), Duration.ofSeconds(40), other::get);
	}

	@Test
	void aFutureAndASetTellWhichInstanceHoldsTheLockAndForHowLong() {
		try (Lease lease = this.holding.acquire(REQUEST.withLeaseTime(FIXED))) {
			CompletableFuture<Lease> future = this.waiting.acquireAsync(REQUEST.withWaitTime(Duration.ZERO));
			assertThat(future).failsWithin(Duration.ofSeconds(20))
				.withThrowableThat()
				.withCauseInstanceOf(LockContendedException.class)
				.withMessageContaining("it is held by orders@web-7f9c:1, whose lease ends in 60 s");
			assertHeldBy("orders@web-7f9c:1", FIXED, () -> this.waiting.acquireAll(List
				.of(REQUEST.withWaitTime(Duration.ZERO), LockRequest.of("stock", 1).withWaitTime(Duration.ZERO))));
		}
	}

	@Test
	void anotherProgramIsToldOfAsAForeignOwner() {
		new StoreClient(new MemoryLockStore(this.instances.memory)).acquire(KEY,
				new OwnerToken("secret-of-a-go-service", LockRequest.of(KEY).mode()), FIXED, false);
		assertHeldBy("a foreign owner 'secr…'", FIXED, () -> this.waiting.acquire(REQUEST.withWaitTime(Duration.ZERO)));
	}

	private static void assertHeldBy(String holder, Duration remaining, Callable<?> call) {
		assertThatExceptionOfType(LockContendedException.class).isThrownBy(call::call)
			.withMessageContaining(holder)
			.satisfies((ex) -> assertThat(ex.getHolder()).isEqualTo(holder))
			.satisfies((ex) -> assertThat(ex.getRemaining()).isEqualTo(remaining));
	}

}
