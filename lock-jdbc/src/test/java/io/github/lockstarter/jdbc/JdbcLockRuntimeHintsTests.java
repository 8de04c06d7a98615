// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.support.SpringFactoriesLoader;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a native image needs.
 */
@Order(1)
class JdbcLockRuntimeHintsTests {

	@Test
	void theScriptsAreFound() {
		RuntimeHints hints = new RuntimeHints();
		SpringFactoriesLoader.forResourceLocation("META-INF/spring/aot.factories")
			.load(RuntimeHintsRegistrar.class)
			.forEach((registrar) -> registrar.registerHints(hints, getClass().getClassLoader()));
		assertThat(RuntimeHintsPredicates.resource().forResource("io/github/lockstarter/jdbc/schema-h2.sql"))
			.accepts(hints);
	}

}
