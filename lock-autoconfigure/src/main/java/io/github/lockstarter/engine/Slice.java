// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

/**
 * For how long a tenure may be handed on inside of this JVM: without end while no other
 * JVM is known to wait for the lock, else for one time slice. Once per slice it has to be
 * asked whether one waits.
 */
final class Slice {

	private final long length;

	private final long end;

	private volatile boolean awaited;

	private volatile long probeAt;

	Slice(long start, long length, boolean awaited) {
		this.length = length;
		this.end = start + length;
		this.probeAt = this.end;
		this.awaited = awaited;
	}

	/**
	 * Return whether the lock has to be given back now.
	 */
	boolean isOver(long now) {
		return this.awaited && now - this.end >= 0;
	}

	/**
	 * Return whether it is time to ask, at most once per slice.
	 */
	boolean beginProbe(long now) {
		if (this.awaited || now - this.probeAt < 0) {
			return false;
		}
		this.probeAt = now + this.length;
		return true;
	}

	/**
	 * Note whether another JVM waits.
	 */
	void awaited(boolean awaited) {
		this.awaited = awaited;
	}

}
