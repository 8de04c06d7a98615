// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.backend;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What every store has to do. Three backends of one store stand for three instances of an
 * application.
 */
public abstract class AbstractLockBackendTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration SHORT_LEASE = Duration.ofMillis(150);

	private LockBackend first;

	private LockBackend second;

	private LockBackend third;

	private final OwnerToken owner = OwnerToken.random();

	private final OwnerToken other = OwnerToken.random();

	/**
	 * Return another backend of the same store, which is empty before the first call.
	 */
	protected abstract LockBackend createBackend();

	/**
	 * Close a backend.
	 */
	protected abstract void close(LockBackend backend) throws Exception;

	@BeforeEach
	void create() {
		this.first = createBackend();
		this.second = createBackend();
		this.third = createBackend();
	}

	@AfterEach
	void close() throws Exception {
		for (LockBackend backend : List.of(this.first, this.second, this.third)) {
			close(backend);
		}
	}

	@Test
	void aFreeLockIsGranted() {
		assertThat(acquire(this.first, this.owner)).isInstanceOf(LockGrant.class);
	}

	@Test
	void aTakenLockIsRefusedWithTheTimeThatIsLeft() {
		acquire(this.first, this.owner);
		assertThat(acquire(this.second, this.other)).isInstanceOfSatisfying(LockRefusal.class,
				(refusal) -> assertThat(refusal.remaining()).isBetween(Duration.ofSeconds(1), LEASE));
		assertThat(acquire(this.first, this.other)).isInstanceOf(LockRefusal.class);
	}

	@Test
	void theSameRequestAgainIsGrantedAgainWithTheSameFencingBase() {
		LockAttempt grant = this.first.acquire(KEY, this.owner, SHORT_LEASE, false);
		assertThat(acquire(this.first, this.owner)).isEqualTo(grant);
		assertThat(remaining()).isGreaterThan(Duration.ofSeconds(1));
	}

	@Test
	void aLockIsFreeWhenItsLeaseHasEnded() {
		this.first.acquire(KEY, this.owner, SHORT_LEASE, false);
		assertThat(acquire(this.second, this.other)).isInstanceOf(LockRefusal.class);
		Awaitility.await().until(() -> acquire(this.second, this.other) instanceof LockGrant);
		assertThat(this.first.renew(KEY, this.owner, LEASE)).isFalse();
		assertThat(this.first.release(KEY, this.owner, false)).isEqualTo(ReleaseOutcome.NOT_OWNER);
		assertThat(acquire(this.first, this.owner)).isInstanceOf(LockRefusal.class);
	}

	@Test
	void onlyItsOwnerRenewsALock() {
		this.first.acquire(KEY, this.owner, Duration.ofSeconds(5), false);
		assertThat(this.second.renew(KEY, this.other, Duration.ofHours(1))).isFalse();
		assertThat(remaining()).isLessThanOrEqualTo(Duration.ofSeconds(5));
		assertThat(this.second.renew(KEY, this.owner, LEASE)).isTrue();
		assertThat(remaining()).isBetween(Duration.ofSeconds(6), LEASE);
	}

	@Test
	void aFreeLockIsNotRenewed() {
		assertThat(this.first.renew(KEY, this.owner, LEASE)).isFalse();
		assertThat(acquire(this.second, this.other)).isInstanceOf(LockGrant.class);
	}

	@Test
	void onlyItsOwnerReleasesALock() {
		acquire(this.first, this.owner);
		assertThat(this.second.release(KEY, this.other, false)).isEqualTo(ReleaseOutcome.NOT_OWNER);
		assertThat(acquire(this.second, this.other)).isInstanceOf(LockRefusal.class);
		assertThat(this.first.release(KEY, this.owner, false)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(this.first.release(KEY, this.owner, false)).isEqualTo(ReleaseOutcome.NOT_OWNER);
		assertThat(acquire(this.second, this.other)).isInstanceOf(LockGrant.class);
	}

	@Test
	void fencingBasesGrow() {
		long last = 0;
		for (int i = 0; i < 100; i++) {
			OwnerToken next = OwnerToken.random();
			LockGrant grant = (LockGrant) acquire((i % 2 == 0) ? this.first : this.second, next);
			assertThat(grant.fencingBase()).isGreaterThan(last);
			last = grant.fencingBase();
			this.first.release(KEY, next, false);
		}
	}

	@Test
	void differentLocksAreIndependent() {
		List<LockKey> keys = List.of(KEY, LockKey.of("stock"), LockKey.of("stock", "1001 "), LockKey.of("order", 1001),
				LockKey.of("stock", "1001}"), LockKey.of("stock", "{1001}"), LockKey.of("stock", "1001:fence"),
				LockKey.of("stock", "1001%7D"), LockKey.of("stock", "a\nb"), LockKey.of("stock", "a%0Ab"),
				LockKey.of("stock", "ключ \uD83D\uDD12"), LockKey.of("stock", "x".repeat(512)));
		for (LockKey key : keys) {
			assertThat(this.first.acquire(key, this.owner, LEASE, false)).isInstanceOf(LockGrant.class);
		}
		for (LockKey key : keys) {
			assertThat(this.second.acquire(key, this.other, LEASE, false)).isInstanceOf(LockRefusal.class);
			assertThat(this.first.release(key, this.owner, false)).isEqualTo(ReleaseOutcome.RELEASED);
			assertThat(this.second.acquire(key, this.other, LEASE, false)).isInstanceOf(LockGrant.class);
		}
	}

	@Test
	void aReleaseTellsTheInstanceThatHasWaitedLongest() throws Exception {
		Bell second = listen(this.second);
		Bell third = listen(this.third);
		acquire(this.first, this.owner);
		this.second.acquire(KEY, this.other, LEASE, true);
		this.third.acquire(KEY, OwnerToken.random(), LEASE, true);
		this.second.acquire(KEY, this.other, LEASE, true);
		assertThat(this.first.release(KEY, this.owner, false)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
		assertThat(second.next()).isEqualTo(KEY);
		acquire(this.second, this.other);
		assertThat(this.second.release(KEY, this.other, false)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
		assertThat(third.next()).isEqualTo(KEY);
		assertToldOfNothingElse(this.second, second);
		assertToldOfNothingElse(this.third, third);
	}

	@Test
	void anInstanceThatGaveUpIsNotTold() throws Exception {
		Bell second = listen(this.second);
		Bell third = listen(this.third);
		acquire(this.first, this.owner);
		this.second.acquire(KEY, this.other, LEASE, true);
		this.third.acquire(KEY, OwnerToken.random(), LEASE, true);
		this.second.withdraw(KEY);
		this.first.release(KEY, this.owner, false);
		assertThat(third.next()).isEqualTo(KEY);
		assertToldOfNothingElse(this.second, second);
	}

	@Test
	void anInstanceThatGivesUpAfterItWasToldPassesItOn() throws Exception {
		Bell second = listen(this.second);
		Bell third = listen(this.third);
		acquire(this.first, this.owner);
		this.second.acquire(KEY, this.other, LEASE, true);
		this.third.acquire(KEY, OwnerToken.random(), LEASE, true);
		this.first.release(KEY, this.owner, false);
		assertThat(second.next()).isEqualTo(KEY);
		this.second.withdraw(KEY);
		assertThat(third.next()).isEqualTo(KEY);
	}

	@Test
	void anInstanceThatReleasesWithWaitersOfItsOwnStandsBehindTheOthers() throws Exception {
		Bell first = listen(this.first);
		Bell second = listen(this.second);
		acquire(this.first, this.owner);
		this.second.acquire(KEY, this.other, LEASE, true);
		assertThat(this.first.release(KEY, this.owner, true)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
		assertThat(second.next()).isEqualTo(KEY);
		acquire(this.second, this.other);
		assertThat(this.second.release(KEY, this.other, false)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
		assertThat(first.next()).isEqualTo(KEY);
	}

	@Test
	void withNobodyWaitingARequestToQueueAtReleaseDoesNothing() {
		acquire(this.first, this.owner);
		assertThat(this.first.release(KEY, this.owner, true)).isEqualTo(ReleaseOutcome.RELEASED);
		acquire(this.second, this.other);
		assertThat(this.second.release(KEY, this.other, false)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	private Bell listen(LockBackend backend) {
		Bell bell = new Bell();
		Awaitility.await().until(() -> backend.releaseSignal().connect(bell));
		return bell;
	}

	/**
	 * Messages keep their order, so whatever came before the next one is here already.
	 */
	private void assertToldOfNothingElse(LockBackend backend, Bell bell) throws InterruptedException {
		LockKey next = LockKey.of("next");
		this.first.acquire(next, this.owner, LEASE, false);
		backend.acquire(next, this.other, LEASE, true);
		this.first.release(next, this.owner, false);
		assertThat(bell.next()).isEqualTo(next);
	}

	private Duration remaining() {
		LockRefusal refusal = (LockRefusal) acquire(this.third, OwnerToken.random());
		assertThat(refusal.remaining()).isNotNull();
		return refusal.remaining();
	}

	private static LockAttempt acquire(LockBackend backend, OwnerToken owner) {
		return backend.acquire(KEY, owner, LEASE, false);
	}

	/**
	 * Notes which locks an instance was told of.
	 */
	private static final class Bell implements ReleaseListener {

		private final BlockingQueue<LockKey> rings = new LinkedBlockingQueue<>();

		@Override
		public void onRelease(LockKey key) {
			this.rings.add(key);
		}

		@Override
		public void onDoubt() {
		}

		LockKey next() throws InterruptedException {
			LockKey key = this.rings.poll(10, TimeUnit.SECONDS);
			assertThat(key).as("the instance was told").isNotNull();
			return key;
		}

	}

}
