// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test.autoconfigure;

import java.util.Collection;

/**
 * What {@link TestLocks} has begun, and what lasts until it is closed. Closing again does
 * nothing.
 */
public final class Situation implements AutoCloseable {

	private final Collection<Situation> open;

	private final Runnable end;

	/**
	 * Create a situation that lasts while it is among those that are open.
	 */
	Situation(Collection<Situation> open, Runnable end) {
		this.open = open;
		this.end = end;
	}

	@Override
	public void close() {
		if (this.open.remove(this)) {
			this.end.run();
		}
	}

}
