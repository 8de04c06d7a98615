// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.LockRefusal;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.StoreHarness.Jvm;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A free lock that a store reserves for the next owner, for a moment only. So a wrong
 * answer counts only if it came in time. Otherwise the machine may have stood still, and
 * the test is repeated with another lock.
 */
final class Reservation {

	/** No store reserves a lock for less than 20 ms. */
	private static final Duration RESERVED = Duration.ofMillis(15);

	private static final int MOST_TRIES = 50;

	private final LockKey key;

	private long since;

	/** A reservation that has ended may change the order of all that follow. */
	private boolean late;

	private Reservation(LockKey key) {
		this.key = key;
	}

	/**
	 * Run a test, until no wrong answer has come too late.
	 */
	static void test(Consumer<Reservation> test) {
		for (int tries = 0; tries < MOST_TRIES; tries++) {
			try {
				test.accept(new Reservation(StoreHarness.unusedKey()));
				return;
			}
			catch (LateException ex) {
				// The next one may be quicker
			}
		}
		throw new AssertionError("Each of " + MOST_TRIES + " locks went to the wrong owner, or to none, more than "
				+ RESERVED.toMillis() + " ms after it was free: it is not reserved, or this machine is too slow");
	}

	LockKey key() {
		return this.key;
	}

	/**
	 * Note that the lock is free from now on.
	 */
	void begin() {
		this.since = System.nanoTime();
	}

	/**
	 * Release the lock, and with that begin its reservation for the next one.
	 */
	void release(Jvm jvm, OwnerToken owner, @Nullable LockMode next) {
		begin();
		jvm.release(this.key, owner, next);
	}

	/**
	 * Check that another owner than the next one is refused.
	 */
	void refuses(Jvm jvm, OwnerToken owner) {
		check(jvm, owner, LockRefusal.class);
	}

	/**
	 * Check that the next owner gets the lock.
	 */
	void grants(Jvm jvm, OwnerToken owner) {
		check(jvm, owner, LockGrant.class);
	}

	private void check(Jvm jvm, OwnerToken owner, Class<? extends LockAttempt> expected) {
		LockAttempt answer = jvm.acquire(this.key, owner);
		check(() -> assertThat(answer).isInstanceOf(expected));
	}

	/**
	 * Check what is true only while the lock is reserved.
	 */
	void check(Runnable assertion) {
		this.late |= System.nanoTime() - this.since > RESERVED.toNanos();
		try {
			assertion.run();
		}
		catch (AssertionError ex) {
			if (this.late) {
				throw new LateException();
			}
			throw ex;
		}
	}

	private static final class LateException extends RuntimeException {

	}

}
