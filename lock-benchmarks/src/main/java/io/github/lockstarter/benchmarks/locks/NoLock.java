// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.util.Set;

/**
 * No lock, which shows the cost of the body.
 */
final class NoLock implements Competitor {

	@Override
	public String name() {
		return "no lock, 1 thread";
	}

	@Override
	public Set<Ability> abilities() {
		return Set.of();
	}

	@Override
	public LockClient connect(int port, long leaseMillis) {
		return new LockClient() {

			@Override
			public Runnable lock(String key) {
				return () -> {
				};
			}

			@Override
			public void close() {
			}

		};
	}

}
