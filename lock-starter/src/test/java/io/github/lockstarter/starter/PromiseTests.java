// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.contentOf;

/**
 * Each promise has tests that run in every build, not only in the profile {@code full}.
 * Those with the tag {@code clock} do, after all others of their module.
 */
class PromiseTests {

	private static final Path ROOT = Path.of("..");

	private static final Pattern TESTS = Pattern
		.compile("^\\t*@(Test|ParameterizedTest|Nested)$| extends Abstract\\w+Tests \\{$", Pattern.MULTILINE);

	private static final Pattern ONLY_IN_FULL = Pattern.compile("^\\t*@FullProfileOnly$", Pattern.MULTILINE);

	private static final Pattern CLASS_ONLY_IN_FULL = Pattern.compile("^@FullProfileOnly$", Pattern.MULTILINE);

	@ParameterizedTest
	@MethodSource("promises")
	void itsTestsRunEveryTime(String promise, List<String> tests) throws Exception {
		assertThat(tests).as(promise).isNotEmpty();
		for (String test : tests) {
			assertThat(sources(test)).as(test)
				.isNotEmpty()
				.allSatisfy((source) -> assertThat(contentOf(source.toFile())).doesNotContainPattern(CLASS_ONLY_IN_FULL)
					.satisfies((code) -> assertThat(count(TESTS, code)).isGreaterThan(count(ONLY_IN_FULL, code))));
		}
	}

	private static long count(Pattern pattern, String code) {
		return pattern.matcher(code).results().count();
	}

	/** The rows of the table in CONTRIBUTING.md. */
	private static Stream<Object[]> promises() {
		String table = contentOf(ROOT.resolve("CONTRIBUTING.md").toFile()).split("\\| promise \\| tests \\|\\n")[1];
		return table.lines()
			.skip(1)
			.takeWhile((line) -> line.startsWith("|"))
			.map((line) -> line.split("\\|"))
			.map((cells) -> new Object[] { cells[1].strip(), names(cells[2]) });
	}

	private static List<String> names(String cell) {
		return Pattern.compile("`(\\w+)`").matcher(cell).results().map((name) -> name.group(1)).toList();
	}

	private static List<Path> sources(String test) throws IOException {
		List<Path> found = new ArrayList<>();
		try (DirectoryStream<Path> modules = Files.newDirectoryStream(ROOT, (path) -> Files.isDirectory(tests(path)))) {
			for (Path module : modules) {
				try (Stream<Path> files = Files.walk(tests(module))) {
					files.filter((file) -> file.endsWith(test + ".java")).forEach(found::add);
				}
			}
		}
		return found;
	}

	/** Other directories may change meanwhile, because other modules are being built. */
	private static Path tests(Path module) {
		return module.resolve("src/test/java");
	}

}
