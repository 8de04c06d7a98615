// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.testsupport.AbstractArchitectureTests;

/**
 * The room of the store in a database.
 */
@Order(1)
class ArchitectureTests extends AbstractArchitectureTests {

	ArchitectureTests() {
		super(Map.of(".jdbc", Set.of("", ".store")));
	}

	@Override
	protected String[] startingThreads() {
		// The first waits for messages until the store is closed; the others end with
		// their work
		return new String[] { ".jdbc.ReleaseSignal", ".jdbc.IdleRows", ".jdbc.JdbcLockStore" };
	}

	@Test
	void nothingNeedsSpringBoot() {
		assertUsedOnlyIn("a store is not concerned with applications", Set.of(), "org.springframework.boot..",
				"org.springframework.aop..", "org.springframework.context..", "org.springframework.jdbc.core..");
	}

	@Test
	void nothingKnowsTransactionsOfTheApplication() {
		assertUsedOnlyIn("locks are never a part of the caller's transaction", Set.of(),
				"org.springframework.transaction..");
	}

}
