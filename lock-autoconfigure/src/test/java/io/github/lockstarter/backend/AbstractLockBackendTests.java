// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.backend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of every {@link LockBackend}, seen from several JVMs that share one store.
 */
public abstract class AbstractLockBackendTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(20);

	private static final Duration SHORT_LEASE_TIME = Duration.ofMillis(100);

	/** Stores count in milliseconds and may cut off what is below. */
	private static final Duration CLOCK_RESOLUTION = Duration.ofMillis(2);

	private static final AtomicLong lastKey = new AtomicLong();

	private final LockKey key = unusedKey();

	private final OwnerToken owner = OwnerToken.random();

	private final OwnerToken other = OwnerToken.random();

	private Jvm one;

	private Jvm two;

	private Jvm three;

	/**
	 * Return a backend as a further JVM has it, all on the same store.
	 */
	protected abstract LockBackend createBackend();

	/**
	 * Return the time by which leases of the store end.
	 */
	protected long nanoTime() {
		return System.nanoTime();
	}

	/**
	 * Move the clock if it does not run by itself.
	 */
	protected void letTimePass() {
	}

	/**
	 * Return whether the second JVM of a queue is told as well, because nobody knows
	 * whether the first one lives.
	 */
	protected boolean tellsTheSecondAsWell() {
		return false;
	}

	@BeforeEach
	void startJvms() {
		this.one = Jvm.start(createBackend());
		this.two = Jvm.start(createBackend());
		this.three = Jvm.start(createBackend());
	}

	@AfterEach
	void stopJvms() throws Exception {
		for (Jvm jvm : List.of(this.one, this.two, this.three)) {
			if (jvm.backend instanceof AutoCloseable closeable) {
				closeable.close();
			}
		}
	}

	@Test
	void aFreeLockIsGranted() {
		assertThat(this.one.acquire(this.key, this.owner)).isInstanceOf(LockGrant.class);
	}

	@Test
	void aHeldLockIsRefusedWithTheRemainingTime() {
		this.one.grant(this.key, this.owner);
		assertThat(this.two.remaining(this.key, this.other)).isBetween(Duration.ofSeconds(5), LEASE_TIME);
	}

	@Test
	void aHeldLockIsRefusedToAnotherOwnerInTheSameJvm() {
		this.one.grant(this.key, this.owner);
		assertThat(this.one.acquire(this.key, this.other)).isInstanceOf(LockRefusal.class);
	}

	@Test
	void theSameOwnerGetsTheSameFencingBaseAgainAndAFullLease() {
		long base = this.one.grant(this.key, this.owner, Duration.ofSeconds(5));
		assertThat(this.one.grant(this.key, this.owner)).isEqualTo(base);
		assertThat(this.two.remaining(this.key, this.other)).isGreaterThan(Duration.ofSeconds(5));
	}

	@Test
	void anotherOwnerGetsTheLockWhenTheLeaseEndsAndNotBefore() {
		long start = nanoTime();
		this.one.grant(this.key, this.owner, SHORT_LEASE_TIME);
		takeOver();
		assertThat(Duration.ofNanos(nanoTime() - start))
			.isGreaterThanOrEqualTo(SHORT_LEASE_TIME.minus(CLOCK_RESOLUTION));
	}

	@Test
	void theOwnerExtendsItsLease() {
		this.one.grant(this.key, this.owner, Duration.ofSeconds(5));
		assertThat(this.one.renew(this.key, this.owner)).isTrue();
		assertThat(this.two.remaining(this.key, this.other)).isGreaterThan(Duration.ofSeconds(5));
	}

	@Test
	void nobodyElseExtendsALease() {
		this.one.grant(this.key, this.owner, Duration.ofSeconds(5));
		assertThat(this.two.renew(this.key, this.other)).isFalse();
		assertThat(this.two.remaining(this.key, this.other)).isLessThanOrEqualTo(Duration.ofSeconds(5));
	}

	@Test
	void aFreeLockCannotBeExtended() {
		assertThat(this.one.renew(this.key, this.owner)).isFalse();
		assertThat(this.two.acquire(this.key, this.other)).isInstanceOf(LockGrant.class);
	}

	@Test
	void aLeaseThatEndedCannotBeExtended() {
		this.one.grant(this.key, this.owner, SHORT_LEASE_TIME);
		takeOver();
		assertThat(this.one.renew(this.key, this.owner)).isFalse();
		this.two.release(this.key, this.other, false);
		assertThat(this.one.renew(this.key, this.owner)).isFalse();
	}

	@Test
	void aReleasedLockIsGrantedToTheNext() {
		this.one.grant(this.key, this.owner);
		assertThat(this.one.release(this.key, this.owner, false)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(this.two.acquire(this.key, this.other)).isInstanceOf(LockGrant.class);
	}

	@Test
	void nobodyElseReleasesALock() {
		this.one.grant(this.key, this.owner);
		assertThat(this.two.release(this.key, this.other, false)).isEqualTo(ReleaseOutcome.NOT_OWNER);
		assertThat(this.one.renew(this.key, this.owner)).isTrue();
	}

	@Test
	void aLateReleaseFreesNobody() {
		this.one.grant(this.key, this.owner, SHORT_LEASE_TIME);
		takeOver();
		this.three.queue(this.key);
		assertThat(this.one.release(this.key, this.owner, true)).isEqualTo(ReleaseOutcome.NOT_OWNER);
		assertThat(this.two.renew(this.key, this.other)).isTrue();
		assertThat(heardBy(this.three)).isEmpty();
	}

	@Test
	void aRepeatedReleaseChangesNothing() {
		this.one.grant(this.key, this.owner);
		this.one.release(this.key, this.owner, false);
		assertThat(this.one.release(this.key, this.owner, false)).isEqualTo(ReleaseOutcome.NOT_OWNER);
		this.two.grant(this.key, this.other);
		assertThat(this.one.release(this.key, this.owner, false)).isEqualTo(ReleaseOutcome.NOT_OWNER);
		assertThat(this.two.renew(this.key, this.other)).isTrue();
	}

	@Test
	void theFencingBaseGrowsOverReleases() {
		List<Long> bases = new ArrayList<>();
		for (Jvm jvm : List.of(this.one, this.two, this.two, this.one, this.three, this.one)) {
			OwnerToken next = OwnerToken.random();
			bases.add(jvm.grant(this.key, next));
			jvm.release(this.key, next, false);
		}
		assertThat(bases).isSorted().doesNotHaveDuplicates().allMatch((base) -> base > 0 && base < 1L << 51);
	}

	@Test
	void theFencingBaseGrowsOverTheEndOfALease() {
		long base = this.one.grant(this.key, this.owner, SHORT_LEASE_TIME);
		assertThat(takeOver()).isGreaterThan(base);
	}

	@Test
	void aWaitingJvmIsToldOfTheRelease() {
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		assertThat(this.one.release(this.key, this.owner, false)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
		assertThat(heardBy(this.two)).containsExactly(this.key);
	}

	@Test
	void aJvmThatDoesNotWaitIsNotTold() {
		this.one.grant(this.key, this.owner);
		assertThat(this.two.acquire(this.key, this.other)).isInstanceOf(LockRefusal.class);
		assertThat(this.one.release(this.key, this.owner, false)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(heardBy(this.two)).isEmpty();
	}

	@Test
	void onlyTheFirstWaitingJvmIsToldAndTheNextWhenThatWithdraws() {
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		this.three.queue(this.key);
		this.one.release(this.key, this.owner, false);
		assertThat(heardBy(this.two)).containsExactly(this.key);
		assertNotTold(this.three);
		this.two.backend.withdraw(this.key);
		assertThat(heardBy(this.three)).contains(this.key);
	}

	@Test
	void aWithdrawnJvmIsNotTold() {
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		this.two.backend.withdraw(this.key);
		assertThat(this.one.release(this.key, this.owner, false)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(heardBy(this.two)).isEmpty();
	}

	@Test
	void withdrawingFromAHeldLockTellsNobody() {
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		this.three.queue(this.key);
		this.two.backend.withdraw(this.key);
		this.two.backend.withdraw(this.key);
		assertThat(heardBy(this.three)).isEmpty();
		assertThat(this.one.release(this.key, this.owner, false)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
		assertThat(heardBy(this.three)).containsExactly(this.key);
	}

	@Test
	void askingAgainKeepsTheTurnInTheQueue() {
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		this.three.queue(this.key);
		this.two.queue(this.key);
		this.one.release(this.key, this.owner, false);
		assertThat(heardBy(this.two)).containsExactly(this.key);
		assertNotTold(this.three);
	}

	@Test
	void aGrantTakesTheJvmOutOfTheQueue() {
		this.one.grant(this.key, this.owner, SHORT_LEASE_TIME);
		this.two.queue(this.key);
		takeOver();
		assertThat(this.one.release(this.key, this.other, false)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	@Test
	void aJvmThatReleasesCanQueueBehindTheOneThatWasTold() {
		this.one.grant(this.key, this.owner);
		this.two.queue(this.key);
		this.three.queue(this.key);
		assertThat(this.one.release(this.key, this.owner, true)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
		this.two.grant(this.key, this.other);
		assertThat(this.two.release(this.key, this.other, false)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
		assertThat(heardBy(this.three)).contains(this.key);
		assertNotTold(this.one);
		this.three.grant(this.key, this.other);
		assertThat(this.three.release(this.key, this.other, false)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
		assertThat(heardBy(this.one)).contains(this.key);
	}

	@Test
	void aJvmThatReleasesDoesNotQueueIfNobodyWaits() {
		this.one.grant(this.key, this.owner);
		assertThat(this.one.release(this.key, this.owner, true)).isEqualTo(ReleaseOutcome.RELEASED);
		this.two.grant(this.key, this.other);
		assertThat(this.two.release(this.key, this.other, false)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	@Test
	void twoKeysAreTwoLocks() {
		LockKey another = unusedKey();
		this.one.grant(this.key, this.owner);
		this.two.grant(another, this.other);
		this.three.queue(another);
		assertThat(this.one.release(this.key, this.owner, false)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(this.two.renew(another, this.other)).isTrue();
		assertThat(this.two.release(another, this.other, false)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
		assertThat(heardBy(this.three)).containsExactly(another);
	}

	@Test
	void hostileKeysAreDifferentLocks() {
		String name = this.key.toString().replace(':', '.');
		List<LockKey> keys = List.of(LockKey.of(name), LockKey.of(name, "a"), LockKey.of(name, "{a}"),
				LockKey.of(name, "%7Ba%7D"), LockKey.of(name, "a}"), LockKey.of(name, "a}:fence"),
				LockKey.of(name, "a:queue"), LockKey.of(name, ":"), LockKey.of(name, "a\nb"), LockKey.of(name, "a\\nb"),
				LockKey.of(name, "a\r\nDEL b"), LockKey.of(name, "a\0"), LockKey.of(name, " a"), LockKey.of(name, "ä"),
				LockKey.of(name, "a\u0308"), LockKey.of(name, "\u202Ea"), LockKey.of(name, "鍵🔒"),
				LockKey.of(name, "x".repeat(512)), LockKey.of(name, "x".repeat(511)),
				LockKey.of(name, "{".repeat(512)));
		assertThat(keys).allSatisfy((hostile) -> this.one.grant(hostile, OwnerToken.random()));
		assertThat(keys).allSatisfy((hostile) -> this.two.queue(hostile));
	}

	@Test
	void aHostileKeyIsHeardOfAsItself() {
		LockKey hostile = LockKey.of(this.key.name(), this.key.key() + ":{a}%7B+\n\0 ä🔒");
		this.one.grant(hostile, this.owner);
		this.two.queue(hostile);
		this.one.release(hostile, this.owner, false);
		assertThat(heardBy(this.two)).containsExactly(hostile);
	}

	private long takeOver() {
		return Awaitility.await().until(() -> {
			letTimePass();
			return this.two.acquire(this.key, this.other) instanceof LockGrant grant ? grant.fencingBase() : null;
		}, (base) -> base != null);
	}

	private void assertNotTold(Jvm jvm) {
		assertThat(heardBy(jvm)).hasSizeLessThanOrEqualTo(tellsTheSecondAsWell() ? 1 : 0);
	}

	/**
	 * Return what a JVM was told until now: messages keep their order, so everything
	 * arrived before a last one about another lock.
	 */
	private List<LockKey> heardBy(Jvm jvm) {
		LockKey last = unusedKey();
		Jvm sender = (jvm != this.one) ? this.one : this.two;
		OwnerToken holder = OwnerToken.random();
		sender.grant(last, holder);
		jvm.queue(last);
		sender.release(last, holder, false);
		Awaitility.await().until(() -> jvm.heard.remove(last));
		return List.copyOf(jvm.heard);
	}

	private static LockKey unusedKey() {
		return LockKey.of("contract", lastKey.incrementAndGet());
	}

	/**
	 * A backend and the messages that reached it.
	 */
	private record Jvm(LockBackend backend, Queue<LockKey> heard) {

		static Jvm start(LockBackend backend) {
			Queue<LockKey> heard = new ConcurrentLinkedQueue<>();
			assertThat(backend.releaseSignal().connect(new ReleaseListener() {

				@Override
				public void onRelease(LockKey key) {
					heard.add(key);
				}

				@Override
				public void onDoubt() {
				}

			})).isTrue();
			return new Jvm(backend, heard);
		}

		LockAttempt acquire(LockKey key, OwnerToken owner) {
			return this.backend.acquire(key, owner, LEASE_TIME, false);
		}

		long grant(LockKey key, OwnerToken owner) {
			return grant(key, owner, LEASE_TIME);
		}

		long grant(LockKey key, OwnerToken owner, Duration leaseTime) {
			LockAttempt attempt = this.backend.acquire(key, owner, leaseTime, false);
			assertThat(attempt).isInstanceOf(LockGrant.class);
			return ((LockGrant) attempt).fencingBase();
		}

		void queue(LockKey key) {
			assertThat(this.backend.acquire(key, OwnerToken.random(), LEASE_TIME, true))
				.isInstanceOf(LockRefusal.class);
		}

		Duration remaining(LockKey key, OwnerToken owner) {
			LockAttempt attempt = acquire(key, owner);
			assertThat(attempt).isInstanceOf(LockRefusal.class);
			return ((LockRefusal) attempt).remaining();
		}

		boolean renew(LockKey key, OwnerToken owner) {
			return this.backend.renew(key, owner, LEASE_TIME);
		}

		ReleaseOutcome release(LockKey key, OwnerToken owner, boolean queue) {
			return this.backend.release(key, owner, queue);
		}

	}

}
