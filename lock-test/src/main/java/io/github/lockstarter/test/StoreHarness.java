// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.LockRefusal;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.ReleaseListener;
import io.github.lockstarter.store.ReleaseOutcome;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Several JVMs that share one store, as a {@link LockStore} sees them.
 */
public abstract class StoreHarness {

	protected static final Duration LEASE_TIME = Duration.ofSeconds(20);

	protected static final Duration SHORT_LEASE_TIME = Duration.ofMillis(200);

	/** Stores count in milliseconds and may cut off what is below. */
	protected static final Duration CLOCK_RESOLUTION = Duration.ofMillis(2);

	private static final Duration POLL_INTERVAL = Duration.ofMillis(5);

	private static final AtomicLong lastKey = new AtomicLong();

	private final List<Jvm> jvms = new ArrayList<>();

	protected final LockKey key = unusedKey();

	protected final OwnerToken owner = OwnerToken.random();

	protected final OwnerToken other = OwnerToken.random();

	protected Jvm one;

	protected Jvm two;

	protected Jvm three;

	/**
	 * Return a store as a further JVM has it; all of them keep the same locks.
	 */
	protected abstract LockStore createStore();

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
	 * Return whether two locks can be granted together.
	 */
	protected boolean areTogether(LockKey one, LockKey other) {
		return true;
	}

	/**
	 * Return whether messages about two locks arrive in the order in which they are sent.
	 */
	protected boolean areInOrder(LockKey one, LockKey other) {
		return true;
	}

	/**
	 * Return whether the second JVM of a queue is told as well, because nobody knows
	 * whether the first one lives.
	 */
	protected boolean tellsTheSecondAsWell() {
		return false;
	}

	/**
	 * Return the answer to a release that comes a second time.
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
		for (Jvm jvm : this.jvms) {
			if (jvm.store instanceof AutoCloseable closeable) {
				closeable.close();
			}
		}
	}

	protected final Jvm startJvm() {
		Jvm jvm = Jvm.start(createStore());
		this.jvms.add(jvm);
		return jvm;
	}

	protected final long takeOver() {
		return await().until(() -> {
			letTimePass();
			return this.two.acquire(this.key, this.other) instanceof LockGrant grant ? grant.fencingBase() : null;
		}, (base) -> base != null);
	}

	protected final void assertNotTold(Jvm jvm) {
		assertThat(heardBy(jvm)).hasSizeLessThanOrEqualTo(tellsTheSecondAsWell() ? 1 : 0);
	}

	protected final List<LockKey> heardBy(Jvm jvm) {
		return heardBy(jvm, this.key);
	}

	/**
	 * Return what a JVM was told until now. All messages about a lock arrive before a
	 * last one about another lock that comes the same way.
	 */
	protected final List<LockKey> heardBy(Jvm jvm, LockKey about) {
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
	 * Wait for a condition, and go on as soon as it holds: each test waits several times.
	 */
	protected static ConditionFactory await() {
		return Awaitility.await().pollDelay(Duration.ZERO).pollInterval(POLL_INTERVAL);
	}

	protected static LockKey unusedKey() {
		return LockKey.of("contract", lastKey.incrementAndGet());
	}

	/**
	 * A store and the messages that reached it.
	 */
	protected record Jvm(LockStore store, Queue<LockKey> heard) {

		static Jvm start(LockStore store) {
			Queue<LockKey> heard = new ConcurrentLinkedQueue<>();
			ReleaseListener listener = new ReleaseListener() {

				@Override
				public void onRelease(LockKey key) {
					heard.add(key);
				}

				@Override
				public void onDoubt() {
				}

			};
			await().until(() -> store.releaseSignal().connect(listener));
			return new Jvm(store, heard);
		}

		LockAttempt acquire(LockKey key, OwnerToken owner) {
			return this.store.acquire(key, owner, LEASE_TIME, false);
		}

		long grant(LockKey key, OwnerToken owner) {
			return grant(key, owner, LEASE_TIME);
		}

		long grant(LockKey key, OwnerToken owner, Duration leaseTime) {
			LockAttempt attempt = this.store.acquire(key, owner, leaseTime, false);
			assertThat(attempt).isInstanceOf(LockGrant.class);
			return ((LockGrant) attempt).fencingBase();
		}

		void queue(LockKey key) {
			queue(key, OwnerToken.random());
		}

		void queue(LockKey key, OwnerToken owner) {
			assertThat(this.store.acquire(key, owner, LEASE_TIME, true)).isInstanceOf(LockRefusal.class);
		}

		@Nullable Duration remaining(LockKey key, OwnerToken owner) {
			LockAttempt attempt = acquire(key, owner);
			assertThat(attempt).isInstanceOf(LockRefusal.class);
			return ((LockRefusal) attempt).remaining();
		}

		boolean renew(LockKey key, OwnerToken owner) {
			return renew(key, owner, LEASE_TIME);
		}

		boolean renew(LockKey key, OwnerToken owner, Duration leaseTime) {
			return this.store.renew(key, owner, leaseTime);
		}

		ReleaseOutcome release(LockKey key, OwnerToken owner, @Nullable LockMode next) {
			return this.store.release(key, owner, next);
		}

	}

}
