// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.util.List;

import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.support.SpringFactoriesLoader;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a native image needs.
 */
class FencingRuntimeHintsTests {

	@Test
	void theScriptOfEachDatabaseIsFound() {
		RuntimeHints hints = new RuntimeHints();
		SpringFactoriesLoader.forResourceLocation("META-INF/spring/aot.factories")
			.load(RuntimeHintsRegistrar.class)
			.forEach((registrar) -> registrar.registerHints(hints, getClass().getClassLoader()));
		assertThat(List.of("postgresql", "mysql", "mariadb", "h2")).allSatisfy((platform) -> {
			String script = "io/github/lockstarter/fencing/schema-" + platform + ".sql";
			assertThat(new ClassPathResource(script).exists()).isTrue();
			assertThat(RuntimeHintsPredicates.resource().forResource(script)).accepts(hints);
		});
	}

}
