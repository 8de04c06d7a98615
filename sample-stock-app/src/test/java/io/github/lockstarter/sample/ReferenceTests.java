// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.lockstarter.autoconfigure.DistributedLockAutoConfiguration;
import io.github.lockstarter.testsupport.Cases;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The reference documentation and its neighbours show only code that is compiled and run.
 */
class ReferenceTests {

	private static final Path DOCS = Path.of("..", "docs");

	@Test
	void itsJavaIsThatOfExamplesThatWereRun() throws Exception {
		String sources = CodeBlocks.withoutIndentation(sources());
		Cases.each(List.of("reference.md", "migrating.md", "testing.md"),
				(page) -> assertThat(CodeBlocks.of(DOCS.resolve(page), "java")).hasSizeGreaterThan(6)
					.allSatisfy((block) -> assertThat(sources).contains(CodeBlocks.withoutIndentation(block))));
	}

	@Test
	void theExamplesRun() {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(AopAutoConfiguration.class, DistributedLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.store=memory")
			.withBean(ReferenceExamples.class)
			.withBean(LockStatistics.class)
			.run((context) -> {
				ReferenceExamples examples = context.getBean(ReferenceExamples.class);
				examples.add(1, 3);
				assertThat(examples.addThroughTheJdk(1)).isEqualTo(4);
				assertThat(examples.count(1)).isEqualTo(4);
				assertThat(examples.deductAll(Map.of(1L, 5))).isFalse();
				assertThat(examples.deductAll(Map.of(1L, 3))).isTrue();
				assertThat(examples.count(1)).isOne();
				assertThat(examples.nextTicket()).isOne();
				examples.transfer(7, 8, 100);
				assertThat(examples.account(7) + examples.account(8)).isZero();
				assertThat(examples.account(8)).isEqualTo(100);
				assertThat(examples.tokens(Set.of(1L, 2L))).hasSize(2).doesNotHaveDuplicates();
				assertThat(examples.tryBoth(8, 7)).hasValueSatisfying((tokens) -> assertThat(tokens).hasSize(2));
				examples.importAll(List.of("a", ""));
				assertThat(examples.lastToken()).isPositive();
				assertThat(examples.stopped()).isTrue();
				assertThat(context.getBean(LockStatistics.class).longestWait("ticket-counter")).isPositive();
			});
	}

	@Test
	void allLinksLeadSomewhere() {
		Cases.each(List.of("reference.md", "migrating.md", "testing.md", "observability.md"),
				(name) -> assertLinksLeadSomewhere(DOCS.resolve(name)));
	}

	private static void assertLinksLeadSomewhere(Path page) throws IOException {
		Matcher link = Pattern.compile("](?:\\(|: )([^)#\\s]*)(#[^)\\s]*)?").matcher(Files.readString(page));
		while (link.find()) {
			Path target = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1));
			assertThat(target).exists();
			if (link.group(2) != null) {
				assertThat(anchors(target)).contains(link.group(2));
			}
		}
	}

	private static List<String> anchors(Path page) throws IOException {
		try (Stream<String> lines = Files.lines(page)) {
			return lines.filter((line) -> line.startsWith("#"))
				.map((line) -> "#" + line.replaceFirst("^#+ ", "")
					.toLowerCase(java.util.Locale.ROOT)
					.replaceAll("[^a-z0-9 -]", "")
					.replace(' ', '-'))
				.toList();
		}
	}

	private static String sources() throws IOException {
		StringBuilder sources = new StringBuilder();
		for (String root : List.of("src", "../lock-core/src/test", "../lock-spring/src/test", "../lock-redis/src/test",
				"../lock-autoconfigure/src/test", "../lock-starter/src/test")) {
			try (Stream<Path> files = Files.walk(Path.of(root))) {
				for (Path file : files.filter((each) -> each.toString().endsWith(".java")).toList()) {
					sources.append(Files.readString(file));
				}
			}
		}
		return sources.toString();
	}

}
