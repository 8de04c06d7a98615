// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.testsupport.AbstractArchitectureTests;

/**
 * The room of the store in ZooKeeper.
 */
class ArchitectureTests extends AbstractArchitectureTests {

	ArchitectureTests() {
		super(Map.of(".zookeeper", Set.of("", ".store")));
	}

	@Override
	protected String[] startingThreads() {
		// A session stays open until the last lease of a closed store ends
		return new String[] { ".zookeeper.ZooKeeperLockStore" };
	}

	@Test
	void nothingNeedsSpringOrTheLocksOfCurator() {
		assertUsedOnlyIn("locks in ZooKeeper work without Spring, and are not those of Curator", Set.of(),
				"org.springframework..", "org.apache.curator.framework.recipes..");
	}

}
