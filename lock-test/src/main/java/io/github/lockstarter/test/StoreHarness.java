// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.ReleaseOutcome;
import io.github.lockstarter.store.WaitingLine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Several JVMs that share one store, each with its own {@link LockStore}. A test is
 * skipped if it needs a capability that the store does not declare, such as a mode or a
 * waiting line.
 */
public abstract class StoreHarness {

	/** So long that a lease ends only where a test ends it. */
	protected static final Duration LEASE_TIME = Duration.ofMinutes(10);

	static final Duration SHORTER_LEASE_TIME = Duration.ofMinutes(1);

	/** How long a store of a test reserves a free lock for the one whose turn it is. */
	protected static final Duration RESERVATION = Duration.ofHours(1);

	private static final Duration POLL_INTERVAL = Duration.ofMillis(5);

	private static final AtomicLong lastKey = new AtomicLong();

	/** The name of the locks of this test. */
	private static volatile String name = "";

	/** Those of all tests of a class that shares them. */
	private static final List<Jvm> shared = new ArrayList<>();

	private final List<Jvm> jvms = new ArrayList<>();

	protected final LockKey key = firstKey();

	protected final OwnerToken owner = OwnerToken.random();

	protected final OwnerToken other = OwnerToken.random();

	protected Jvm one;

	protected Jvm two;

	protected Jvm three;

	/**
	 * Return a store for a further JVM; all of them keep the same locks.
	 */
	protected abstract LockStore createStore();

	/**
	 * Return whether all tests of this class use the same JVMs, because their stores are
	 * slow to connect.
	 */
	protected boolean sharesJvms() {
		return false;
	}

	/**
	 * Let the lease of an owner end now, as if {@link #LEASE_TIME} had passed.
	 */
	protected abstract void expire(LockKey key, OwnerToken owner);

	/**
	 * Let the {@linkplain #RESERVATION reservation} of a free lock end now. A store
	 * without a waiting line reserves no lock.
	 */
	protected void endReservation(LockKey key) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Return whether a lease also ends by itself, and not only if a test moves a clock.
	 */
	protected boolean isOnRealClock() {
		return true;
	}

	/**
	 * Return whether two locks can be granted together, if the store can grant several.
	 */
	protected boolean areTogether(LockKey one, LockKey other) {
		return true;
	}

	/**
	 * Return whether a refusal contains the remaining time of the other owner's lease.
	 */
	protected boolean knowsTheRemainingTime() {
		return true;
	}

	/**
	 * Return whether messages about two locks arrive in the order in which they are sent.
	 */
	protected boolean areInOrder(LockKey one, LockKey other) {
		return true;
	}

	/**
	 * Return whether the second JVM in a line is notified as well, because the store does
	 * not know whether the first one is alive.
	 */
	protected boolean notifiesTheSecondAsWell() {
		return false;
	}

	/**
	 * Return the answer to a release after the lock was already released.
	 */
	protected ReleaseOutcome repeatedRelease() {
		return ReleaseOutcome.NOT_OWNER;
	}

	@BeforeEach
	void startJvms() {
		this.one = startJvm();
		this.two = startJvm();
		this.three = startJvm();
	}

	@AfterEach
	void stopJvms() throws Exception {
		if (!sharesJvms()) {
			stop(this.jvms);
		}
	}

	@AfterAll
	static void stopSharedJvms() throws Exception {
		stop(shared);
		shared.clear();
	}

	private static void stop(List<Jvm> jvms) throws Exception {
		for (Jvm jvm : jvms) {
			jvm.stop();
		}
	}

	protected final Jvm startJvm() {
		int number = this.jvms.size();
		boolean known = sharesJvms() && number < shared.size();
		Jvm jvm = known ? shared.get(number) : new Jvm(this::createStore, knowsTheRemainingTime());
		if (sharesJvms() && !known) {
			shared.add(jvm);
		}
		jvm.hearOf(this.key.name());
		this.jvms.add(jvm);
		return jvm;
	}

	/**
	 * Check that each fencing base is larger than all before.
	 */
	static void assertGrowing(Long... bases) {
		for (int i = 1; i < bases.length; i++) {
			SafetyViolation.check(bases[i] > bases[i - 1], "A later grant has a fencing base that is not larger: %s",
					List.of(bases));
		}
	}

	protected final void assertNotNotified(Jvm jvm) {
		assertThat(heardBy(jvm)).hasSizeLessThanOrEqualTo(notifiesTheSecondAsWell() ? 1 : 0);
	}

	protected final void assertHeardNothing(Jvm jvm) {
		if (jvm.hasWaitingLine()) {
			assertThat(heardBy(jvm)).isEmpty();
		}
	}

	/**
	 * Skip the test if the store does not notify waiting JVMs of a release.
	 */
	protected final void assumeWaitingLine() {
		this.one.assumeWaitingLine();
	}

	protected final List<LockKey> heardBy(Jvm jvm) {
		return heardBy(jvm, this.key);
	}

	/**
	 * Return the messages to a JVM so far. All messages about a lock arrive before a last
	 * one about another lock, which is sent the same way. A store that polls may repeat a
	 * message.
	 */
	protected final List<LockKey> heardBy(Jvm jvm, LockKey about) {
		assumeWaitingLine();
		LockKey last = unusedKey();
		while (!areInOrder(about, last)) {
			last = unusedKey();
		}
		Jvm sender = (jvm != this.one) ? this.one : this.two;
		OwnerToken holder = OwnerToken.random();
		sender.grant(last, holder);
		jvm.queue(last);
		sender.release(last, holder, null);
		LockKey awaited = last;
		await().until(() -> jvm.heard.remove(awaited));
		return List.copyOf(jvm.heard);
	}

	/**
	 * Wait for a condition, with a short poll interval, because each test waits several
	 * times.
	 */
	protected static ConditionFactory await() {
		return Awaitility.await().pollDelay(Duration.ZERO).pollInterval(POLL_INTERVAL);
	}

	private static LockKey firstKey() {
		name = "contract" + lastKey.incrementAndGet();
		return unusedKey();
	}

	protected static LockKey unusedKey() {
		return LockKey.of(name, lastKey.incrementAndGet());
	}

	/**
	 * A store and the messages about the locks of a test that have reached it. It
	 * connects when it is used first, because most tests need no three of them, and one
	 * that is skipped needs one.
	 */
	protected static final class Jvm {

		private final Supplier<LockStore> stores;

		private final boolean knowsTheRemainingTime;

		private final Queue<LockKey> heard = new ConcurrentLinkedQueue<>();

		private @Nullable StoreClient client;

		/** Their name. Guarded by the queue. */
		private String locks = "";

		private Jvm(Supplier<LockStore> stores, boolean knowsTheRemainingTime) {
			this.stores = stores;
			this.knowsTheRemainingTime = knowsTheRemainingTime;
		}

		public synchronized StoreClient client() {
			StoreClient client = this.client;
			if (client == null) {
				client = new StoreClient(this.stores.get());
				this.client = client;
				listen(client);
			}
			return client;
		}

		private void listen(StoreClient client) {
			WaitingLine.Listener listener = new WaitingLine.Listener() {

				@Override
				public void onRelease(LockKey key) {
					hear(key);
				}

				@Override
				public void onDoubt() {
				}

			};
			if (client.store().waitingLine() != WaitingLine.NONE) {
				await().until(() -> client.listen(listener));
			}
		}

		private void hear(LockKey key) {
			synchronized (this.heard) {
				if (key.name().equals(this.locks)) {
					this.heard.add(key);
				}
			}
		}

		/**
		 * Hear from now on of the locks of one test, and no longer of those of earlier
		 * ones.
		 */
		private void hearOf(String locks) {
			synchronized (this.heard) {
				this.locks = locks;
				this.heard.clear();
			}
		}

		synchronized void stop() throws Exception {
			if (this.client != null && this.client.store() instanceof AutoCloseable closeable) {
				closeable.close();
			}
		}

		Queue<LockKey> heard() {
			return this.heard;
		}

		boolean hasWaitingLine() {
			return store().waitingLine() != WaitingLine.NONE;
		}

		void assumeWaitingLine() {
			assumeTrue(hasWaitingLine(), "The store has no waiting line");
		}

		private LockStore store() {
			return client().store();
		}

		/**
		 * Ask for a lock that another owner may have.
		 */
		LockAttempt acquire(LockKey key, OwnerToken owner) {
			return acquire(key, owner, LEASE_TIME, false);
		}

		private LockAttempt acquire(LockKey key, OwnerToken owner, Duration leaseTime, boolean queue) {
			assumeTrue(store().modes().contains(owner.mode()), () -> "The store has no mode " + owner.mode());
			return client().acquire(key, owner, leaseTime, queue);
		}

		List<LockAttempt.Grant> acquireAll(List<LeaseRequest> requests) {
			assumeTrue(store().groupGrant().isPresent(), "The store grants one lock at a time");
			return Objects.requireNonNull(client().acquireAll(requests));
		}

		long grant(LockKey key, OwnerToken owner) {
			return grant(key, owner, LEASE_TIME);
		}

		long grant(LockKey key, OwnerToken owner, Duration leaseTime) {
			LockAttempt attempt = acquire(key, owner, leaseTime, false);
			assertThat(attempt).isInstanceOf(LockAttempt.Grant.class);
			return ((LockAttempt.Grant) attempt).fencingBase();
		}

		/**
		 * Wait for a lock that another owner has.
		 */
		void queue(LockKey key) {
			queue(key, OwnerToken.random());
		}

		void queue(LockKey key, OwnerToken owner) {
			refused(acquire(key, owner, LEASE_TIME, true), key, owner);
		}

		/**
		 * Check that a lock is refused, because another owner has it.
		 */
		LockAttempt.Refusal mustNotGet(LockKey key, OwnerToken owner) {
			return refused(acquire(key, owner), key, owner);
		}

		private static LockAttempt.Refusal refused(LockAttempt attempt, LockKey key, OwnerToken owner) {
			SafetyViolation.check(attempt instanceof LockAttempt.Refusal,
					"'%s' was granted to %s while another owner has it", key, owner);
			return (LockAttempt.Refusal) attempt;
		}

		/**
		 * Check that a lock is refused, because it is the turn of another waiter.
		 */
		void mustWait(LockKey key, OwnerToken owner) {
			assertThat(acquire(key, owner)).isInstanceOf(LockAttempt.Refusal.class);
		}

		/**
		 * Check that a lock is refused, because another owner has it, and for how long if
		 * the store knows that.
		 */
		void mustNotGet(LockKey key, OwnerToken owner, Duration atLeast, Duration atMost) {
			Duration remaining = mustNotGet(key, owner).remaining();
			if (this.knowsTheRemainingTime) {
				assertThat(remaining).isGreaterThan(atLeast).matches((time) -> time.compareTo(atMost) <= 0);
			}
		}

		/**
		 * Check that an owner has a lock, and extend its lease.
		 */
		void renew(LockKey key, OwnerToken owner) {
			assertThat(client().renew(key, owner, LEASE_TIME)).isTrue();
		}

		/**
		 * Check that an owner has a lock.
		 */
		void mustHold(LockKey key, OwnerToken owner) {
			assertThat(client().renew(key, owner, Duration.ZERO)).isTrue();
		}

		/**
		 * Check that an owner does not have a lock.
		 */
		void mustNotHold(LockKey key, OwnerToken owner) {
			mustNotHold(key, owner, Duration.ZERO);
			mustNotHold(key, owner, LEASE_TIME);
		}

		private void mustNotHold(LockKey key, OwnerToken owner, Duration leaseTime) {
			SafetyViolation.check(!client().renew(key, owner, leaseTime), "%s does not have '%s', but is confirmed",
					owner, key);
		}

		ReleaseOutcome release(LockKey key, OwnerToken owner, @Nullable LockMode next) {
			return client().release(key, owner, next);
		}

		boolean keep(LockKey key, OwnerToken owner, Duration time) {
			assumeTrue(store().keeping().isPresent(), "The store keeps no locks");
			return client().keep(key, owner, time);
		}

		void arrive(LockKey key, OwnerToken owner) {
			assumeWaitingLine();
			client().arrive(key, owner);
		}

		void withdraw(LockKey key) {
			assumeWaitingLine();
			client().withdraw(key);
		}

		void withdraw(LockKey key, OwnerToken owner) {
			assumeWaitingLine();
			client().withdraw(key, owner);
		}

		boolean isAwaited(LockKey key) {
			assumeWaitingLine();
			return client().isAwaited(key);
		}

	}

}
