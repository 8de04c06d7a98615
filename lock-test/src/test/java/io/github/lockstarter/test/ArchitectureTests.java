// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.util.Map;
import java.util.Set;

import io.github.lockstarter.testsupport.AbstractArchitectureTests;

/**
 * The rooms of the contract of stores, and of the test kit for applications.
 */
class ArchitectureTests extends AbstractArchitectureTests {

	ArchitectureTests() {
		super(Map.of(".test", Set.of("", ".engine", ".event", ".store"), //
				".test.autoconfigure", Set.of("", ".event", ".memory", ".store", ".test")));
	}

	@Override
	protected String[] startingThreads() {
		// The threads of callers end with their calls
		return new String[] { ".test.Callers" };
	}

}
