// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import org.jspecify.annotations.Nullable;

/**
 * The lease under which the current thread runs, as seen by {@link Lease#current()}.
 */
final class LeaseContext {

	private static final ThreadLocal<@Nullable Lease> CURRENT = new ThreadLocal<>();

	private LeaseContext() {
	}

	static Lease current() {
		Lease lease = CURRENT.get();
		if (lease == null) {
			throw new IllegalStateException("There is no current lease: this thread is neither inside a method"
					+ " annotated with @DistributedLock nor inside a LockTemplate");
		}
		return lease;
	}

	static @Nullable Lease enter(Lease lease) {
		Lease outer = CURRENT.get();
		CURRENT.set(lease);
		return outer;
	}

	static void leave(@Nullable Lease outer) {
		if (outer != null) {
			CURRENT.set(outer);
		}
		else {
			CURRENT.remove();
		}
	}

}
