// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;

/**
 * What is wrong with a worker itself.
 */
public enum Mode {

	/** Nothing. */
	CALM(Duration.ofSeconds(3)),

	/** Its threads are interrupted all the time. */
	INTERRUPTED(Duration.ofSeconds(3)),

	/** It has no patience. */
	IMPATIENT(Duration.ofMillis(8)),

	/** It makes garbage until the collector does nothing but stop the world. */
	SHORT_OF_MEMORY(Duration.ofSeconds(3));

	private final Duration longestWait;

	Mode(Duration longestWait) {
		this.longestWait = longestWait;
	}

	Duration longestWait() {
		return this.longestWait;
	}

}
