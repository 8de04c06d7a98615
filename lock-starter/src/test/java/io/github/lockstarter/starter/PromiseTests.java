// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.contentOf;

/**
 * Each promise has tests that run in every build, not only in the profile {@code full};
 * so has each failure of another library. Those with the tag {@code clock} do, after all
 * others of their module.
 */
class PromiseTests {

	private static final Path ROOT = Path.of("..");

	/** A method, or a class that inherits some. */
	private static final Pattern TEST = Pattern
		.compile("^\\t+@(?:Test|ParameterizedTest)$|^class \\w+ extends Abstract\\w*Lock(?:Store|Registry)Tests \\{$"
				+ "|^\\t+@Nested\\n(?:\\t+@.*\\n)*\\t+class \\w+ extends \\w+ \\{$", Pattern.MULTILINE);

	/** The format separates members by empty lines, and tells where each of them ends. */
	private static final Pattern NOT_EVERY_TIME = Pattern.compile(
			"(?:^.+\\n)*^(\\t*)(@FullProfileOnly|@Tag\\(\"full\"\\)|@Disabled.*|.*\\babstract .*\\{)\\n(?s:.*?)^\\1\\}$",
			Pattern.MULTILINE);

	@Test
	void theTestsOfEachPromiseRunEveryTime() {
		List<Path> all = allSources();
		assertThat(promises()).isNotEmpty()
			.allSatisfy((promise, tests) -> assertThat(tests).isNotEmpty()
				.allSatisfy((test) -> assertThat(all).filteredOn((source) -> source.endsWith(test + ".java"))
					.as(test)
					.isNotEmpty()
					.allMatch((source) -> hasTestOfEachRun(contentOf(source.toFile())))));
	}

	@Test
	void aTestOfTheProfileFullOrOfAnAbstractClassIsNotEnough() {
		String test = "\n\t@Test\n%s\tvoid test() {\n\t}\n\n}\n";
		String full = "\t@FullProfileOnly\n";
		String part = "\n\t@Nested\n%s\tclass Part extends Parts {\n\n\t\t@Test\n\t\tvoid test() {\n\t\t}\n\n\t}\n\n}\n";
		assertThat(hasTestOfEachRun("class Tests {\n" + test.formatted(""))).isTrue();
		assertThat(hasTestOfEachRun("class Tests {\n" + test.formatted(full))).isFalse();
		assertThat(hasTestOfEachRun("@FullProfileOnly\nclass Tests {\n" + test.formatted(""))).isFalse();
		assertThat(hasTestOfEachRun("abstract class Tests {\n" + test.formatted(""))).isFalse();
		assertThat(hasTestOfEachRun("class Tests extends AbstractLockStoreTests {\n\n}\n")).isTrue();
		assertThat(hasTestOfEachRun("class Tests extends Harness {\n\n}\n")).isFalse();
		assertThat(hasTestOfEachRun("class Tests {\n" + part.formatted(""))).isTrue();
		assertThat(hasTestOfEachRun("class Tests {\n" + part.formatted(full))).isFalse();
	}

	private static boolean hasTestOfEachRun(String code) {
		return TEST.matcher(NOT_EVERY_TIME.matcher(code).replaceAll("")).find();
	}

	/** The rows of the tables whose last column names tests. */
	private static Map<String, List<String>> promises() {
		return Stream.of("CONTRIBUTING.md", "docs/peers.md")
			.map((page) -> contentOf(ROOT.resolve(page).toFile()).split("\\| tests \\|\\n")[1])
			.flatMap((table) -> table.lines().skip(1).takeWhile((line) -> line.startsWith("|")))
			.map((line) -> line.split("\\|"))
			.collect(Collectors.toMap((cells) -> cells[1].strip(), (cells) -> names(cells[cells.length - 1])));
	}

	private static List<String> names(String cell) {
		return Pattern.compile("`(\\w+)`").matcher(cell).results().map((name) -> name.group(1)).toList();
	}

	private static List<Path> allSources() {
		List<Path> found = new ArrayList<>();
		try (DirectoryStream<Path> modules = Files.newDirectoryStream(ROOT, (path) -> Files.isDirectory(tests(path)))) {
			for (Path module : modules) {
				try (Stream<Path> files = Files.walk(tests(module))) {
					files.forEach(found::add);
				}
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return found;
	}

	/** Other directories may change meanwhile, because other modules are being built. */
	private static Path tests(Path module) {
		return module.resolve("src/test/java");
	}

}
