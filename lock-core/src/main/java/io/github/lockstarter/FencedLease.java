// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A lease whose fencing token transactions claim.
 *
 * @param lease the lease
 * @param shared whether several transactions may run under the lease at the same time,
 * because its owner is not a thread
 */
public record FencedLease(Lease lease, boolean shared) {

	/**
	 * Return the leases in the order of their locks. Of several leases of one lock the
	 * one with the largest token remains, and of those the exclusive one.
	 */
	static List<FencedLease> sorted(Collection<FencedLease> leases) {
		Map<String, FencedLease> byLock = leases.stream()
			.collect(Collectors.toMap(FencedLease::lock, (each) -> each, FencedLease::stronger, TreeMap::new));
		return List.copyOf(byLock.values());
	}

	private String lock() {
		return this.lease.store() + '/' + this.lease.key().text();
	}

	private FencedLease stronger(FencedLease other) {
		return Comparator.<FencedLease>comparingLong((each) -> each.lease.fencingToken())
			.thenComparing((each) -> each.lease.mode() != LockMode.READ)
			.thenComparing((each) -> !each.shared)
			.compare(this, other) >= 0 ? this : other;
	}

}
