// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.WaitingLine;

/**
 * The messages to those who wait that have arrived.
 */
final class Messages implements WaitingLine.Listener {

	final Queue<LockKey> heard = new ConcurrentLinkedQueue<>();

	final AtomicInteger doubts = new AtomicInteger();

	@Override
	public void onRelease(LockKey key) {
		this.heard.add(key);
	}

	@Override
	public void onDoubt() {
		this.doubts.incrementAndGet();
	}

}
