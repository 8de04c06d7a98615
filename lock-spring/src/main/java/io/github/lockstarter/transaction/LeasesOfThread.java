// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;

/**
 * The leases that matter to the transactions of the current thread: those that it has
 * acquired, until they are released, and those of the bodies that it runs.
 */
final class LeasesOfThread {

	/** Leases may end in any order, and on any thread. */
	private static final ThreadLocal<List<TransactionAwareLeaseSet>> ACQUIRED = ThreadLocal
		.withInitial(() -> new ArrayList<>(2));

	private LeasesOfThread() {
	}

	static void add(TransactionAwareLeaseSet lease) {
		if (!TransactionSynchronizationManager.isSynchronizationActive()) {
			forgetExpired();
		}
		ACQUIRED.get().removeIf(TransactionAwareLeaseSet::isEnded);
		ACQUIRED.get().add(lease);
	}

	/**
	 * Forget leases that may never be closed: those of closed registries, and those with
	 * a fixed time that are over. Until then they matter to transactions that began
	 * before.
	 */
	static void forgetExpired() {
		ACQUIRED.get().removeIf(TransactionAwareLeaseSet::isExpired);
	}

	static void forgetEnded() {
		ACQUIRED.get().removeIf(TransactionAwareLeaseSet::isEnded);
	}

	/**
	 * Let the current transaction, which has just begun, hold the leases until its
	 * completion.
	 */
	static void cover() {
		ACQUIRED.get().forEach(TransactionAwareLeaseSet::cover);
	}

	/**
	 * Check that all leases are held, except those whose loss is only logged.
	 * @throws io.github.lockstarter.LockLostException if a lock was lost
	 */
	static void ensureAllHeld() {
		for (TransactionAwareLeaseSet lease : all()) {
			if (lease.lossMatters()) {
				lease.unreleased().forEach(Lease::ensureHeld);
			}
		}
	}

	/**
	 * Return whether the thread already holds all these locks of a registry.
	 */
	static boolean cover(TransactionAwareLockRegistry registry, List<LockRequest> locks) {
		if (ACQUIRED.get().isEmpty()) {
			return false;
		}
		return locks.stream()
			.allMatch((lock) -> ACQUIRED.get()
				.stream()
				.filter((lease) -> !lease.isEnded() && lease.registry().delegate() == registry.delegate())
				.flatMap((lease) -> lease.delegate().all().stream())
				.anyMatch((lease) -> lease.key().equals(lock.key()) && lease.isHeld()));
	}

	/**
	 * Return the leases whose fencing tokens a transaction claims, without repetition, in
	 * an order that is the same in all JVMs.
	 * @param byDefault whether transactions claim the tokens of a registry's leases where
	 * nothing is said
	 */
	static List<Fenced> fenced(Predicate<String> byDefault) {
		Map<String, Fenced> byLock = new TreeMap<>();
		for (TransactionAwareLeaseSet leases : all()) {
			TransactionAwareLockRegistry registry = leases.registry();
			if (leases.isFenced(byDefault.test(registry.name()))) {
				leases.unreleased()
					.forEach((lease) -> byLock.merge(registry.name() + '/' + lease.key().text(),
							new Fenced(registry, lease), Fenced::stronger));
			}
		}
		return List.copyOf(byLock.values());
	}

	static int size() {
		return ACQUIRED.get().size();
	}

	private static Set<TransactionAwareLeaseSet> all() {
		Set<TransactionAwareLeaseSet> all = Collections.newSetFromMap(new IdentityHashMap<>(4));
		for (LeaseSet each : LeaseSet.enclosing()) {
			if (each instanceof TransactionAwareLeaseSet lease) {
				all.add(lease);
			}
		}
		all.addAll(ACQUIRED.get());
		all.removeIf(TransactionAwareLeaseSet::isEnded);
		return all;
	}

	/**
	 * A lease whose fencing token a transaction claims.
	 *
	 * @param registry its registry
	 * @param lease the lease
	 */
	record Fenced(TransactionAwareLockRegistry registry, Lease lease) {

		/** The claim of a writer is enough for the same thread as a reader. */
		private Fenced stronger(Fenced other) {
			return Comparator.<Fenced, Boolean>comparing((each) -> each.lease.mode() != LockMode.READ)
				.thenComparing((each) -> each.lease.fencingToken())
				.compare(this, other) >= 0 ? this : other;
		}

	}

}
