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

	private static final Pattern TESTS = Pattern
		.compile("^\\t*@(Test|ParameterizedTest|Nested)$| extends Abstract\\w+Tests \\{$", Pattern.MULTILINE);

	private static final Pattern ONLY_IN_FULL = Pattern.compile("^\\t*@FullProfileOnly$", Pattern.MULTILINE);

	private static final Pattern CLASS_ONLY_IN_FULL = Pattern.compile("^@FullProfileOnly$", Pattern.MULTILINE);

	@Test
	void theTestsOfEachPromiseRunEveryTime() {
		List<Path> all = allSources();
		assertThat(promises()).isNotEmpty()
			.allSatisfy((promise, tests) -> assertThat(tests).isNotEmpty()
				.allSatisfy((test) -> assertThat(all).filteredOn((source) -> source.endsWith(test + ".java"))
					.as(test)
					.isNotEmpty()
					.allSatisfy((source) -> assertThat(contentOf(source.toFile()))
						.doesNotContainPattern(CLASS_ONLY_IN_FULL)
						.satisfies(
								(code) -> assertThat(count(TESTS, code)).isGreaterThan(count(ONLY_IN_FULL, code))))));
	}

	private static long count(Pattern pattern, String code) {
		return pattern.matcher(code).results().count();
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
