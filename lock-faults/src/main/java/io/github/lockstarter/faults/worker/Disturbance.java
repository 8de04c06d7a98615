// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Disturbs the threads of a worker.
 */
final class Disturbance {

	private static final int GARBAGE_BYTES = 1 << 16;

	private static final long INTERVAL = TimeUnit.MILLISECONDS.toNanos(3);

	/** Long enough for most waits to end without an interrupt. */
	private static final long RARELY = TimeUnit.MILLISECONDS.toNanos(300);

	private final List<WorkerThread> threads;

	private final Mode mode;

	private final Patience patience;

	private final List<byte[]> garbage = new ArrayList<>();

	private int round;

	Disturbance(List<WorkerThread> threads, Mode mode, Patience patience) {
		this.threads = threads;
		this.mode = mode;
		this.patience = patience;
	}

	/**
	 * Disturb the threads for some time.
	 */
	void run(Duration duration, AtomicBoolean stopped) {
		long start = System.nanoTime();
		boolean lasting = this.mode == Mode.HASTY || this.mode == Mode.UNANSWERED;
		while (!stopped.get() && (lasting || System.nanoTime() - start < duration.toNanos())) {
			switch (this.mode) {
				case INTERRUPTED, UNANSWERED -> interruptNext();
				case SHORT_OF_MEMORY -> fill();
				case HASTY -> {
					if (!this.patience.hasNone()) {
						interruptNext();
					}
				}
				default -> {
					return;
				}
			}
			LockSupport.parkNanos(lasting ? RARELY : INTERVAL);
		}
	}

	private void interruptNext() {
		this.threads.get(this.round++ % this.threads.size()).interrupt();
	}

	/**
	 * Retain a third of the heap, and leave the rest to the garbage collector.
	 */
	private void fill() {
		long limit = Runtime.getRuntime().maxMemory() / 3;
		for (int i = 0; i < 50; i++) {
			this.garbage.add(new byte[GARBAGE_BYTES]);
			if ((long) this.garbage.size() * GARBAGE_BYTES > limit) {
				this.garbage.subList(0, this.garbage.size() / 2).clear();
			}
		}
	}

}
