// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.lab;

import java.nio.file.Path;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.Test;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

/**
 * The shop stays a simple shop: who reads it need not know that there is a lab.
 */
class LabIndependenceTests {

	private static final String LAB = "io.github.lockstarter.sample.lab..";

	@Test
	void nothingInTheShopDependsOnTheLab() {
		noClasses().that()
			.resideOutsideOfPackage(LAB)
			.should()
			.dependOnClassesThat()
			.resideInAPackage(LAB)
			.check(new ClassFileImporter().importPath(Path.of("target", "classes")));
	}

}
