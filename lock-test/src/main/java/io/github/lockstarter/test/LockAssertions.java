// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.util.List;
import java.util.stream.Stream;

import org.assertj.core.api.AbstractAssert;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.event.LockEvent;

/**
 * Assertions of AssertJ about locks. Import its methods statically beside those of
 * AssertJ.
 */
public final class LockAssertions {

	private LockAssertions() {
	}

	/**
	 * Begin assertions about what has happened to locks.
	 */
	public static RecordedLocksAssert assertThat(RecordingLockListener recorded) {
		return new RecordedLocksAssert(recorded);
	}

	/**
	 * Begin assertions about a lock at this point of the code.
	 * @param name the name of the lock
	 * @param key its key
	 */
	public static LockAssert assertThatLock(String name, Object key) {
		return assertThatLock(LockKey.of(name, key));
	}

	/**
	 * Begin assertions about a lock at this point of the code.
	 */
	public static LockAssert assertThatLock(LockKey lock) {
		return new LockAssert(lock);
	}

	/**
	 * Assertions about what has happened to locks.
	 */
	public static final class RecordedLocksAssert extends AbstractAssert<RecordedLocksAssert, RecordingLockListener> {

		private RecordedLocksAssert(RecordingLockListener recorded) {
			super(recorded, RecordedLocksAssert.class);
		}

		/**
		 * Verify that a lock was acquired. Reentrant acquisitions do not count.
		 */
		public RecordedLocksAssert hasAcquired(String name, Object key) {
			return hasAcquired(LockKey.of(name, key));
		}

		/**
		 * Verify that a lock was acquired. Reentrant acquisitions do not count.
		 */
		public RecordedLocksAssert hasAcquired(LockKey lock) {
			return has(LockEvent.Acquired.class, "acquired", lock);
		}

		/**
		 * Verify that a lock was not acquired.
		 */
		public RecordedLocksAssert hasNotAcquired(String name, Object key) {
			return hasNotAcquired(LockKey.of(name, key));
		}

		/**
		 * Verify that a lock was not acquired.
		 */
		public RecordedLocksAssert hasNotAcquired(LockKey lock) {
			isNotNull();
			if (this.actual.keys(LockEvent.Acquired.class).contains(lock)) {
				failWithMessage("Lock '%s' should not have been acquired%s", lock, seen());
			}
			return this;
		}

		/**
		 * Verify that locks were acquired in this order, with or without others in
		 * between.
		 */
		public RecordedLocksAssert hasAcquiredInOrder(LockKey... locks) {
			isNotNull();
			List<LockKey> acquired = this.actual.keys(LockEvent.Acquired.class);
			int next = 0;
			for (LockKey each : acquired) {
				if (next < locks.length && each.equals(locks[next])) {
					next++;
				}
			}
			if (next < locks.length) {
				failWithMessage("Locks %s should have been acquired in this order, but these were: %s", List.of(locks),
						acquired);
			}
			return this;
		}

		/**
		 * Verify that a lock was released by its owner.
		 */
		public RecordedLocksAssert hasReleased(String name, Object key) {
			return hasReleased(LockKey.of(name, key));
		}

		/**
		 * Verify that a lock was released by its owner.
		 */
		public RecordedLocksAssert hasReleased(LockKey lock) {
			return has(LockEvent.Released.class, "released", lock);
		}

		/**
		 * Verify that a lock was lost.
		 */
		public RecordedLocksAssert hasLost(String name, Object key) {
			return hasLost(LockKey.of(name, key));
		}

		/**
		 * Verify that a lock was lost.
		 */
		public RecordedLocksAssert hasLost(LockKey lock) {
			return has(LockEvent.Lost.class, "lost", lock);
		}

		/**
		 * Verify that another owner held a lock for the whole wait time.
		 */
		public RecordedLocksAssert hasFailedToAcquire(String name, Object key) {
			return hasFailedToAcquire(LockKey.of(name, key));
		}

		/**
		 * Verify that another owner held a lock for the whole wait time.
		 */
		public RecordedLocksAssert hasFailedToAcquire(LockKey lock) {
			return has(LockEvent.Contended.class, "held by another owner for the whole wait time", lock);
		}

		private RecordedLocksAssert has(Class<? extends LockEvent> type, String what, LockKey lock) {
			isNotNull();
			if (!this.actual.keys(type).contains(lock)) {
				failWithMessage("Lock '%s' should have been %s%s", lock, what, seen());
			}
			return this;
		}

		private String seen() {
			List<String> seen = this.actual.events()
				.stream()
				.map((event) -> event.getClass().getSimpleName() + " '" + event.key() + "'")
				.toList();
			return seen.isEmpty() ? ", but nothing has happened to any lock"
					: "; this has happened: " + String.join(", ", seen);
		}

	}

	/**
	 * Assertions about a lock at this point of the code.
	 */
	public static final class LockAssert extends AbstractAssert<LockAssert, LockKey> {

		private LockAssert(LockKey lock) {
			super(lock, LockAssert.class);
		}

		/**
		 * Verify that the code runs in the body of an annotated method or of a template
		 * that holds the lock. To be called on the thread of the body.
		 */
		public LockAssert isHeldHere() {
			isNotNull();
			if (leases().noneMatch((lease) -> lease.key().equals(this.actual) && lease.isHeld())) {
				failWithMessage("Lock '%s' should be held by the body that runs on this thread, but these are: %s",
						this.actual, leases().filter(Lease::isHeld).map(Lease::key).toList());
			}
			return this;
		}

		/**
		 * Verify that no body that runs on this thread holds the lock.
		 */
		public LockAssert isNotHeldHere() {
			isNotNull();
			if (leases().anyMatch((lease) -> lease.key().equals(this.actual) && lease.isHeld())) {
				failWithMessage("Lock '%s' should not be held by a body that runs on this thread", this.actual);
			}
			return this;
		}

		private static Stream<Lease> leases() {
			return LeaseSet.enclosing().stream().flatMap((leases) -> leases.all().stream());
		}

	}

}
