// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.atomic.AtomicReference;

/**
 * How certain a tenure is. It ends once, whoever comes first.
 */
final class TenureState {

	private final AtomicReference<Value> value = new AtomicReference<>(Value.HELD);

	/**
	 * Return whether the last request for the tenure was granted.
	 */
	boolean isCertain() {
		return this.value.get() == Value.HELD;
	}

	boolean isLost() {
		return this.value.get() == Value.LOST;
	}

	boolean isOver() {
		return isOver(this.value.get());
	}

	private static boolean isOver(Value value) {
		return value == Value.LOST || value == Value.RELEASED;
	}

	/**
	 * Note that a renewal failed.
	 * @return whether it is the first in a row
	 */
	boolean suspect() {
		return this.value.compareAndSet(Value.HELD, Value.SUSPECT);
	}

	/**
	 * Note that a renewal succeeded.
	 * @return whether it ended a suspicion
	 */
	boolean recover() {
		return this.value.compareAndSet(Value.SUSPECT, Value.HELD);
	}

	/**
	 * End it as given back.
	 * @return false if it was over before
	 */
	boolean release() {
		return end(Value.RELEASED);
	}

	/**
	 * End it as lost.
	 * @return false if it was over before
	 */
	boolean lose() {
		return end(Value.LOST);
	}

	private boolean end(Value end) {
		Value before = this.value.get();
		while (!isOver(before)) {
			if (this.value.compareAndSet(before, end)) {
				return true;
			}
			before = this.value.get();
		}
		return false;
	}

	private enum Value {

		/** Granted, and renewed in time. */
		HELD,

		/** The last renewal failed; the lease has not ended yet. */
		SUSPECT,

		/** Ended before it was released. */
		LOST,

		/** Given back by its owner. */
		RELEASED

	}

}
