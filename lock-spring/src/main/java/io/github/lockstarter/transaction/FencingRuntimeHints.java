// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Registers the scripts that create the table, which a native image does not find by
 * reachability.
 */
class FencingRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources().registerPattern("io/github/lockstarter/fencing/schema-*.sql");
	}

}
