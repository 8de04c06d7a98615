// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

import io.github.lockstarter.LockBoundary;

/**
 * Registers the hints for native images that let {@link java.util.ServiceLoader} find the
 * transactions of Spring. Without them, locks would be released before the commit.
 */
class LockBoundaryRuntimeHints implements RuntimeHintsRegistrar {

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources().registerPattern("META-INF/services/" + LockBoundary.class.getName());
		hints.reflection().registerType(SpringLockBoundary.class, MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS);
	}

}
