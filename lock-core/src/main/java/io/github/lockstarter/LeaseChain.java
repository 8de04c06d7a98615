// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The leases under which a part of a reactive chain runs. The context of that part has
 * them under the key {@code LeaseChain.class}. They are the counterpart of
 * {@link LeaseContext}, which belongs to a thread. Use it to fence reactive transactions
 * of a kind that the library does not know.
 *
 * @see LockOutcome#within
 */
public final class LeaseChain {

	private final LeaseSet lease;

	private final ScopeTerms terms;

	private final @Nullable LeaseChain outer;

	LeaseChain(LeaseSet lease, ScopeTerms terms, @Nullable LeaseChain outer) {
		this.lease = lease;
		this.terms = terms;
		this.outer = outer;
	}

	/**
	 * Return the leases of a part of a chain and of the current thread whose fencing
	 * tokens a transaction claims, without repetition, in an order that is the same in
	 * all JVMs.
	 * @param innermost the leases of the part, or {@code null} if it has none
	 * @param byDefault whether transactions claim where nothing is said
	 */
	public static List<FencedLease> fenced(@Nullable LeaseChain innermost, boolean byDefault) {
		List<FencedLease> ofThread = LeaseContext.fenced(byDefault);
		if (innermost == null) {
			return ofThread;
		}
		List<FencedLease> leases = new ArrayList<>(ofThread);
		for (LeaseChain chain = innermost; chain != null; chain = chain.outer) {
			if (chain.terms.isFenced(byDefault)) {
				for (Lease each : chain.lease.all()) {
					leases.add(new FencedLease(each, chain.terms.shared()));
				}
			}
		}
		return FencedLease.sorted(leases);
	}

}
