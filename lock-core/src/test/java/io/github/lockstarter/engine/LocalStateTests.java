// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.engine.LocalState.Held;
import io.github.lockstarter.engine.LocalState.Status;
import io.github.lockstarter.engine.LocalState.Waiting;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.testsupport.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What a registry shows and counts of its own locks.
 */
class LocalStateTests extends AbstractInstancesTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	private static final Duration LEASE = EngineSettings.DEFAULTS.leaseTime();

	private final DefaultLockRegistry registry = this.instances.registry(this.store,
			EngineSettings.DEFAULTS.withInstanceName("orders@web-1:7"), LockListener.NO_OP);

	@Test
	void nothingIsShownWhileNothingIsHeldOrWaitedFor() {
		this.registry.acquire(REQUEST).close();
		assertThat(this.registry.localState()).isEqualTo(new LocalState(List.of(), List.of()));
		assertThat(this.registry.counts()).isEqualTo(new Counts(0, 0, Duration.ZERO, 0));
	}

	@Test
	void aHoldIsShownWithItsThreadAndItsTimes() {
		Lease lease = this.registry.acquire(REQUEST);
		this.time.advance(Duration.ofSeconds(25));
		Held held = held();
		assertThat(held).isEqualTo(new Held(KEY, LockMode.EXCLUSIVE, lease.fencingToken(),
				Thread.currentThread().getName(), Duration.ofSeconds(25), lease.remaining(), 2, Status.HELD));
		assertThat(held.remaining()).isBetween(LEASE.dividedBy(2), LEASE);
		lease.close();
		assertThat(this.registry.localState().held()).isEmpty();
	}

	@Test
	void aNestedAcquisitionIsNoHoldOfItsOwn() {
		try (Lease outer = this.registry.acquire(REQUEST); Lease inner = this.registry.acquire(REQUEST)) {
			assertThat(held().fencingToken()).isEqualTo(inner.fencingToken()).isEqualTo(outer.fencingToken());
		}
	}

	@Test
	void eachOwnerOfASharedLockIsShownTheOneThatHoldsItLongestFirst() {
		LockRequest reader = REQUEST.withMode(LockMode.READ);
		Lease first = this.registry.acquire(reader.withOwner("first"));
		this.time.advance(Duration.ofSeconds(1));
		Lease second = this.registry.acquire(reader.withOwner("second"));
		assertThat(this.registry.localState().held()).extracting(Held::owner).containsExactly("first", "second");
		assertThat(this.registry.localState().held()).extracting(Held::mode).containsOnly(LockMode.READ);
		second.close();
		first.close();
	}

	@Test
	void aFixedLeaseIsLookedUpAndNotRenewed() {
		Lease lease = this.registry.acquire(REQUEST.withLeaseTime(LEASE));
		this.time.advance(Duration.ofSeconds(20));
		assertThat(this.store.renew.calls()).isPositive();
		assertThat(held().renewals()).isZero();
		assertThat(held().remaining()).isLessThan(Duration.ofSeconds(10));
		lease.close();
	}

	@Test
	void waitersOfAnyKindAreShownInTheirOrder() throws Exception {
		Lease lease = this.registry.acquire(REQUEST);
		Callers.Call<Boolean> thread = Callers.start(() -> {
			this.registry.acquire(REQUEST.withWaitTime(Duration.ofSeconds(10))).close();
			return true;
		}).awaitParked();
		this.time.advance(Duration.ofSeconds(1));
		CompletableFuture<Lease> future = this.registry.acquireAsync(REQUEST.withWaitTime(LockRequest.FOREVER));
		this.time.advance(Duration.ofSeconds(2));
		assertThat(this.registry.localState().waiting()).containsExactly(
				new Waiting(KEY, LockMode.EXCLUSIVE, thread.thread().getName(), Duration.ofSeconds(3),
						Duration.ofSeconds(7), "orders@web-1:7"),
				new Waiting(KEY, LockMode.EXCLUSIVE, "a future", Duration.ofSeconds(2), null, "orders@web-1:7"));
		lease.close();
		assertThat(thread.get()).isTrue();
		future.get().close();
		assertThat(this.registry.localState().waiting()).isEmpty();
		assertThat(this.registry.counts().handOffs()).isEqualTo(1);
	}

	@Test
	void aWaiterShowsTheOtherInstanceThatHoldsItsLock() throws Exception {
		OwnerToken other = this.instances.holdElsewhere(KEY, LEASE);
		CompletableFuture<Lease> future = this.registry.acquireAsync(REQUEST);
		this.time.settle();
		assertThat(this.registry.localState().waiting()).singleElement()
			.extracting(Waiting::holder)
			.isEqualTo(OwnerToken.instance(null));
		assertThat(this.registry.localState().toString()).doesNotContain(randomHalf(other));
		this.instances.releaseElsewhere(KEY, other);
		future.get().close();
		assertThat(this.registry.counts().handOffs()).isZero();
	}

	@Test
	void aSuspectLeaseIsShownAndCountedWithItsLag() {
		Lease lease = this.registry.acquire(REQUEST);
		this.store.renew.loseRequests(() -> true);
		this.time.advance(Duration.ofSeconds(10));
		assertThat(held().status()).isEqualTo(Status.SUSPECT);
		this.time.advance(Duration.ofSeconds(5));
		assertThat(this.registry.counts().suspects()).isOne();
		assertThat(this.registry.counts().renewalLag()).isBetween(Duration.ofSeconds(5), Duration.ofMillis(5200));
		this.store.renew.loseRequests(() -> false);
		this.time.advance(Duration.ofSeconds(5));
		assertThat(held().status()).isEqualTo(Status.HELD);
		assertThat(this.registry.counts()).isEqualTo(new Counts(0, 0, Duration.ZERO, 0));
		lease.close();
	}

	@Test
	void aLostLockIsShownUntilItsOwnerNotices() {
		Lease lease = this.registry.acquire(REQUEST);
		this.memory.clear();
		this.time.advance(Duration.ofSeconds(10));
		assertThat(held().status()).isEqualTo(Status.LOST);
		assertThat(held().remaining()).isZero();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
		assertThat(this.registry.localState().held()).isEmpty();
	}

	@Test
	@ExtendWith(CapturedLog.Extension.class)
	void aBodyThatLosesItsLockAtItsLimitIsShownUntilItReturns(CapturedLog log) {
		LockTemplate template = new LockTemplate(this.registry);
		for (LockRequest limited : List.of(REQUEST.withHoldAtMost(LEASE), REQUEST.withLeaseTime(LEASE))) {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> template.executeWithoutResult(limited, (lease) -> {
					this.registry.acquire(limited);
					this.time.advance(LEASE.multipliedBy(2));
					assertThat(held().status()).isEqualTo(Status.LOST);
					// As after any lease that ends by itself
					try (Lease anew = this.registry.acquire(REQUEST)) {
						assertThat(this.registry.localState().held()).extracting(Held::fencingToken)
							.containsExactly(lease.fencingToken(), anew.fencingToken());
					}
				}));
			assertThat(this.registry.localState().held()).isEmpty();
			assertThat(this.registry.activeLocks()).isZero();
		}
		assertThat(log).containsOnlyOnce("The thread is at:")
			.containsPattern("'holdAtMost' of 30000 ms[^.\n]*\\. The thread is at:\n\tat .*getStackTrace");
	}

	@Test
	void aLeaseThatEndsByItselfAndIsNotClosedIsNotShownAfterwards() {
		this.registry.acquire(REQUEST.withHoldAtMost(LEASE));
		this.registry.acquire(LockRequest.of("stock", 1002).withLeaseTime(LEASE));
		new LockTemplate(this.registry).executeWithoutResult(LockRequest.of("stock", 1003).withHoldAtMost(LEASE),
				(lease) -> this.registry.acquire(LockRequest.of(lease.key())));
		this.time.advance(LEASE.multipliedBy(2));
		assertThat(this.registry.localState().held()).isEmpty();
		assertThat(this.registry.activeLocks()).isZero();
	}

	@Test
	void aReleaseThatIsTriedAgainIsCountedAsAnOrphan() {
		Lease lease = this.registry.acquire(REQUEST);
		this.store.release.loseRequests(() -> true);
		lease.close();
		assertThat(this.registry.counts().orphans()).isOne();
		this.store.release.loseRequests(() -> false);
		advanceUntilNothingIsLeft(this.registry);
		assertThat(this.registry.counts().orphans()).isZero();
	}

	@Test
	void anOwnerIsNamedByItsTextOrItsClass() {
		UUID id = new UUID(1, 2);
		assertThat(LocalState.nameOf("job 7")).isEqualTo("job 7");
		assertThat(LocalState.nameOf(7L)).isEqualTo("7");
		assertThat(LocalState.nameOf(id)).isEqualTo(id.toString());
		assertThat(LocalState.nameOf(new Object())).isEqualTo("Object");
		assertThat(LocalState.nameOf(Optional.of("DE02 1203"))).isEqualTo("Optional");
		assertThat(LocalState.nameOf("x".repeat(200))).hasSize(101).endsWith("x…");
		assertThat(LocalState.nameOf(OwnerToken.random("orders@web-1:7", LockMode.EXCLUSIVE)))
			.isEqualTo("orders@web-1:7");
		assertThat(LocalState.nameOf(new Thread(null, () -> {
		}, ""))).matches("thread #\\d+");
	}

	@Test
	void theNameOfAnOwnerIsOneLineWithoutControlCharacters() {
		assertThat(LocalState.nameOf("job\n2026-01-01 ERROR \u001b[31mforged"))
			.isEqualTo("job%0A2026-01-01 ERROR %1B[31mforged");
		assertThat(LocalState.nameOf(new Thread(null, () -> {
		}, "worker\r\n1"))).isEqualTo("worker%0D%0A1");
		assertThat(LocalState.nameOf("50 % {of} all")).isEqualTo("50 % {of} all");
		assertThat(LocalState.nameOf("\n".repeat(200))).hasSize(301);
	}

	@Test
	void noCodeOfAnOwnerRuns() {
		Object owner = Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { CharSequence.class },
				(proxy, method, arguments) -> {
					throw new AssertionError(method.getName());
				});
		assertThat(LocalState.nameOf(owner)).startsWith("$Proxy");
	}

	private Held held() {
		assertThat(this.registry.localState().held()).hasSize(1);
		return this.registry.localState().held().get(0);
	}

	private static String randomHalf(OwnerToken token) {
		return token.value().substring(token.value().lastIndexOf('.') + 1);
	}

}
