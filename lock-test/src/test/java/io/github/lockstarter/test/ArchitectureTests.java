// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.util.Map;
import java.util.Set;

import io.github.lockstarter.testsupport.AbstractArchitectureTests;

/**
 * The room of the tests that others inherit.
 */
class ArchitectureTests extends AbstractArchitectureTests {

	ArchitectureTests() {
		super(Map.of(".test", Set.of("", ".store")));
	}

	@Override
	protected String[] startingThreads() {
		// Callers in tests end with what they call
		return new String[] { ".test.Callers" };
	}

}
