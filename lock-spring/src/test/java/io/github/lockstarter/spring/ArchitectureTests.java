// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import java.util.Map;
import java.util.Set;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.testsupport.AbstractArchitectureTests;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

/**
 * The packages of the Spring integration and their dependencies.
 */
class ArchitectureTests extends AbstractArchitectureTests {

	private static final Map<String, Set<String>> ROOMS = Map.of( //
			".interceptor", Set.of("", ".store"), //
			".validation", Set.of(".interceptor", ".engine", ".store", "", ".transaction"), //
			".aspectj", Set.of("", ".interceptor"), //
			".transaction", Set.of("", ".event", ".store"), //
			".spring",
			Set.of("", ".event", ".store", ".engine", ".memory", ".interceptor", ".validation", ".aspectj",
					".transaction"), //
			".observation", Set.of("", ".event", ".engine", ".spring"));

	ArchitectureTests() {
		super(ROOMS);
	}

	@Override
	protected String[] startingThreads() {
		// Shutdown waits for holders
		return new String[] { ".spring.LockRegistryFactory" };
	}

	@Test
	void nothingNeedsSpringBootOrADriver() {
		assertUsedOnlyIn("the library works without Spring Boot, and with any store", Set.of(),
				"org.springframework.boot..", "org.springframework.data..");
	}

	@Test
	void classFilesAreReadInOneRoom() {
		assertUsedOnlyIn("nobody else should have to know byte code", Set.of(".validation"),
				"org.springframework.asm..");
	}

	@Test
	void weavingNeedsAspectJAndNothingElseDoes() {
		assertUsedOnlyIn("an application without AspectJ must be able to load all other classes", Set.of(".aspectj"),
				"org.aspectj..");
	}

	@Test
	void fencesNeedADatabaseAndNothingElseDoes() {
		assertUsedOnlyIn("an application without a database must be able to load all other classes",
				Set.of(".transaction"), "org.springframework.jdbc..", "org.springframework.orm..", "java.sql..");
	}

	@Test
	void observationsNeedMicrometerAndNothingElseDoes() {
		assertUsedOnlyIn("an application without Micrometer must be able to load all other classes",
				Set.of(".observation"), "io.micrometer..");
	}

	@Test
	void oneClassNeedsHibernate() {
		noClasses().that()
			.doNotHaveFullyQualifiedName(ROOT + ".transaction.HibernateSessions")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("org.hibernate..")
			.because("an application without Hibernate must be able to load all other classes")
			.check(this.classes);
	}

	@Test
	void oneClassNeedsReactor() {
		noClasses().that()
			.haveNameNotMatching(".*\\.ReactiveInvocationAdapter(\\$.*)?")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage("reactor..", "org.reactivestreams..")
			.because("an application without Reactor must be able to load all other classes")
			.check(this.classes);
	}

}
