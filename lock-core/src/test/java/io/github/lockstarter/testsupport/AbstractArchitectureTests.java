// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The packages of one module, and the packages that each of them may use; and how its
 * tests may use time. To read the classes takes seconds, so all tests of a module share
 * them.
 */
@TestInstance(Lifecycle.PER_CLASS)
public abstract class AbstractArchitectureTests extends AbstractClockRuleTests {

	protected static final String ROOT = "io.github.lockstarter";

	private static final DescribedPredicate<JavaClass> TESTS = DescribedPredicate.describe("tests",
			(type) -> type.getSource().orElseThrow().getUri().toString().contains("/test-classes/"));

	private final Map<String, Set<String>> rooms;

	protected final JavaClasses classes;

	/**
	 * Create the tests of a module.
	 * @param rooms the packages that each package may use, by their names relative to the
	 * root package
	 */
	protected AbstractArchitectureTests(Map<String, Set<String>> rooms) {
		this(rooms, new ClassFileImporter().withImportOption(NO_TEST_SUPPORT)
			.importPaths(Path.of("target", "classes"), Path.of("target", "test-classes")));
	}

	private AbstractArchitectureTests(Map<String, Set<String>> rooms, JavaClasses all) {
		super(all.that(TESTS));
		this.rooms = rooms;
		this.classes = all.that(DescribedPredicate.not(TESTS));
	}

	/**
	 * Return the classes that may start threads, because they end them as well.
	 */
	protected String[] startingThreads() {
		return new String[0];
	}

	@Test
	void packagesAreFreeOfCycles() {
		slices().matching("io.github.(**)")
			.should()
			.beFreeOfCycles()
			.because("packages in a cycle can be neither read nor moved on their own")
			.check(this.classes);
	}

	@Test
	void everyPackageHasItsPlaceInTheTableOfRooms() {
		assertThat(packages()).containsExactlyInAnyOrderElementsOf(this.rooms.keySet());
	}

	@Test
	void packagesUseOnlyWhatTheTableOfRoomsAllows() {
		this.rooms.forEach((room, doors) -> {
			String[] open = Stream.concat(Stream.of(room), doors.stream()).map(ROOT::concat).toArray(String[]::new);
			noClasses().that()
				.resideInAPackage(ROOT + room)
				.should()
				.dependOnClassesThat(
						resideInAPackage(ROOT + "..").and(DescribedPredicate.not(resideInAnyPackage(open))))
				.because("stores know nothing about waiting, and the annotation nothing about the engine")
				.check(this.classes);
		});
	}

	@Test
	void everyPackageIsNullMarked() {
		assertThat(packages()).allSatisfy((name) -> {
			JavaPackage room = this.classes.getPackage(ROOT + name);
			assertThat(room.isAnnotatedWith(NullMarked.class)).as("package-info of %s", room.getName()).isTrue();
		});
	}

	@Test
	void threadsAreStartedByTheEngineOnly() {
		Set<String> exceptions = Arrays.stream(startingThreads()).collect(Collectors.toSet());
		noClasses().that()
			.resideOutsideOfPackage(ROOT + ".engine")
			.and(DescribedPredicate.describe("are not " + exceptions,
					(JavaClass type) -> !exceptions.contains(type.getName().substring(ROOT.length()))))
			.should()
			.accessTargetWhere(StartedThreads.by())
			.because("every started thread must be ended")
			.allowEmptyShould(true)
			.check(this.classes);
	}

	/**
	 * Check that only some packages use certain classes.
	 * @param reason the reason of the rule
	 * @param users the packages that may use the classes
	 * @param used the packages of the classes
	 */
	protected final void assertUsedOnlyIn(String reason, Set<String> users, String... used) {
		noClasses().that()
			.resideOutsideOfPackages(users.stream().map(ROOT::concat).toArray(String[]::new))
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage(used)
			.because(reason)
			.allowEmptyShould(true)
			.check(this.classes);
	}

	private Set<String> packages() {
		return this.classes.stream()
			.map((type) -> type.getPackageName().substring(ROOT.length()))
			.collect(Collectors.toCollection(TreeSet::new));
	}

}
