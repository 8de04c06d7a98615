// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import java.util.Collection;

/**
 * Exception thrown when no strategy has the requested name.
 */
class UnknownStrategyException extends RuntimeException {

	UnknownStrategyException(String name, Collection<String> known) {
		super("Strategy '" + name + "' is unknown, known are: " + String.join(", ", known));
	}

}
