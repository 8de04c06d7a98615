// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.autoconfigure.DistributedLockAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The README shows only code that is compiled and run.
 */
class ReadmeTests {

	private static final Path README = Path.of("..", "README.md");

	private static final Path SERVICE = Path.of("src/main/java/io/github/lockstarter/sample/stock/StockService.java");

	private static final Path EXAMPLES = Path.of("src/test/java/io/github/lockstarter/sample/ReadmeExamples.java");

	@Test
	void itsJavaIsThatOfTheShopAndOfTheExamples() throws Exception {
		String sources = CodeBlocks.withoutIndentation(Files.readString(SERVICE) + Files.readString(EXAMPLES));
		assertThat(CodeBlocks.of(README, "java")).hasSize(3)
			.allSatisfy((block) -> assertThat(block.split("\n\n"))
				.allSatisfy((part) -> assertThat(sources).contains(CodeBlocks.withoutIndentation(part))))
			.first()
			.asString()
			.startsWith("import io.github.lockstarter.DistributedLock;");
	}

	@Test
	void itSaysAtTheTopWhatItNeeds() throws Exception {
		assertThat(Files.readString(README).lines().limit(6))
			.anySatisfy((line) -> assertThat(line).contains("**Spring Boot 4**", "**Redis 6.2**"));
	}

	@Test
	void theExamplesRun() {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(AopAutoConfiguration.class, DistributedLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.store=memory")
			.withBean(ReadmeExamples.Shop.class, () -> (productId, count) -> 5 - count)
			.withBean(ReadmeExamples.class)
			.run((context) -> {
				ReadmeExamples examples = context.getBean(ReadmeExamples.class);
				assertThat(AopUtils.isAopProxy(examples)).isTrue();
				examples.nightlyReport();
				assertThat(examples.reports()).isOne();
				assertThat(examples.deduct(1001, 2)).isEqualTo(3);
				try (Lease lease = context.getBean(LockRegistry.class).acquire(LockRequest.of("stock", 1001))) {
					assertThat(lease.fencingToken()).isGreaterThan(examples.audit().tokens().get(1001L));
				}
			});
	}

	@Test
	void itsDependencyIsTheStarter() throws Exception {
		String pom = CodeBlocks.withoutIndentation(Files.readString(Path.of("..", "lock-starter", "pom.xml")));
		assertThat(CodeBlocks.of(README, "xml")).singleElement().satisfies((block) -> {
			Matcher element = Pattern.compile("<(groupId|artifactId|version)>[^<]+</\\1>").matcher(block);
			while (element.find()) {
				assertThat(pom).contains(element.group());
			}
		});
	}

	@Test
	void allPagesNameTheVersionOfThisProject() throws Exception {
		Pattern version = Pattern.compile("<artifactId>lock-\\w+</artifactId>\\s*<version>(.+)<|stock-app-(.+)\\.jar");
		Matcher own = version.matcher(Files.readString(Path.of("..", "lock-starter", "pom.xml")));
		assertThat(own.find()).isTrue();
		for (String page : List.of("README.md", "docs/reference.md", "docs/stores.md", "sample-stock-app/README.md")) {
			assertThat(version.matcher(Files.readString(Path.of("..", page))).results()).as(page)
				.isNotEmpty()
				.allMatch((named) -> own.group(1).equals((named.group(1) != null) ? named.group(1) : named.group(2)));
		}
	}

	@Test
	void itIsShort() throws Exception {
		assertThat(Files.readAllLines(README)).hasSizeLessThanOrEqualTo(160);
	}

}
