// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;

import com.tngtech.archunit.core.domain.JavaModifier;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfiguration;

import io.github.lockstarter.testsupport.AbstractArchitectureTests;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The package for Spring Boot and its dependencies.
 */
class ArchitectureTests extends AbstractArchitectureTests {

	ArchitectureTests() {
		super(Map.of(".autoconfigure",
				Set.of("", ".event", ".store", ".engine", ".redis", ".redlock", ".jdbc", ".zookeeper", ".memory",
						".interceptor", ".validation", ".aspectj", ".transaction", ".spring", ".observation")));
	}

	/** One for a store that may block, which ends with its answer. */
	@Override
	protected String[] startingThreads() {
		return new String[] { ".autoconfigure.StoreAnswer" };
	}

	@Test
	void autoConfigurationsAreFinalShellsWithoutPublicMembers() {
		classes().that()
			.areAnnotatedWith(AutoConfiguration.class)
			.should()
			.bePublic()
			.andShould()
			.haveModifier(JavaModifier.FINAL)
			.because("users exclude them by name and never call them")
			.check(this.classes);
		assertThat(this.classes.stream()
			.filter((type) -> type.isAnnotatedWith(AutoConfiguration.class))
			.flatMap((type) -> Arrays.stream(type.reflect().getDeclaredMethods()))
			.filter((method) -> Modifier.isPublic(method.getModifiers()))).isEmpty();
	}

	@Test
	void nothingNeedsReactor() {
		assertUsedOnlyIn("an application without Reactor must be able to load all classes", Set.of(), "reactor..",
				"org.reactivestreams..");
	}

	@Test
	void onlyTheConfigurationOfAStoreNeedsIt() {
		requireOnlyIn("Redis|Redlock", ROOT + ".redis", ROOT + ".redlock", "org.springframework.data..", "io.lettuce..",
				"redis.clients..");
		requireOnlyIn("Jdbc|LockPools|LockTable|TableScript|Fencing", ROOT + ".jdbc", "org.springframework.boot.jdbc..",
				"org.springframework.boot.sql..", "org.springframework.jdbc..", "org.springframework.dao..",
				"com.zaxxer..");
		requireOnlyIn("ZooKeeper", ROOT + ".zookeeper", "org.apache.curator..");
		requireOnlyIn("LockObservation", ROOT + ".observation", "io.micrometer..");
	}

	@Test
	void onlyTheEndpointNeedsActuator() {
		requireOnlyIn("Locks", "org.springframework.boot.actuate..", "org.springframework.boot.health..");
	}

	private void requireOnlyIn(String names, String... packages) {
		noClasses().that()
			.haveNameNotMatching(".*(" + names + ")[^.]*")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage(packages)
			.because("an application without these libraries must be able to load all other classes")
			.check(this.classes);
	}

}
