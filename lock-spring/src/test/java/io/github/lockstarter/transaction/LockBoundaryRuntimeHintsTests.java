// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.util.ServiceLoader;

import org.junit.jupiter.api.Test;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.support.SpringFactoriesLoader;

import io.github.lockstarter.LockBoundary;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The core finds the transactions of Spring.
 */
class LockBoundaryRuntimeHintsTests {

	@Test
	void theServiceIsFoundWithTheClassLoaderOfTheLibrary() {
		assertThat(ServiceLoader.load(LockBoundary.class, LockBoundary.class.getClassLoader())).singleElement()
			.isInstanceOf(SpringLockBoundary.class);
	}

	@Test
	void aNativeImageFindsItAsWell() throws Exception {
		RuntimeHints hints = new RuntimeHints();
		SpringFactoriesLoader.forResourceLocation("META-INF/spring/aot.factories")
			.load(RuntimeHintsRegistrar.class)
			.stream()
			.filter(LockBoundaryRuntimeHints.class::isInstance)
			.forEach((registrar) -> registrar.registerHints(hints, getClass().getClassLoader()));
		assertThat(RuntimeHintsPredicates.resource().forResource("META-INF/services/" + LockBoundary.class.getName()))
			.accepts(hints);
		assertThat(
				RuntimeHintsPredicates.reflection().onConstructorInvocation(SpringLockBoundary.class.getConstructor()))
			.accepts(hints);
	}

}
