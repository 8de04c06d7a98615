// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import io.github.lockstarter.sample.stock.DeductionStrategy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The strategies are described once, and so does the documentation.
 */
class StrategiesDocumentationTests {

	private static final Path README = Path.of("..", "README.md");

	private static final Path STRATEGIES = Path.of("strategies.md");

	private static final List<Description> DESCRIPTIONS = List
		.of(JsonMapper.shared().readValue(Path.of("src/main/resources/strategies.json").toFile(), Description[].class));

	@Test
	void eachStrategyIsDescribed() {
		try (AnnotationConfigApplicationContext shop = new AnnotationConfigApplicationContext()) {
			TestPropertyValues.of("distributed-lock.store=redis", "spring.profiles.active=jpa,libraries,stores")
				.applyTo(shop);
			shop.scan("io.github.lockstarter.sample.stock", "io.github.lockstarter.sample.strategy");
			shop.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor());
			shop.refresh();
			assertThat(DESCRIPTIONS).extracting(Description::name)
				.containsExactlyInAnyOrder(shop.getBeanNamesForType(DeductionStrategy.class, true, false));
		}
	}

	@Test
	void theirPageListsThem() throws Exception {
		Stream<String> rows = DESCRIPTIONS.stream()
			.map((each) -> "| `%s` | `%s` | %s | %s |".formatted(each.family, each.name, each.expectation,
					each.description));
		assertThat(rowsAfter("| family | strategy |", STRATEGIES)).containsExactlyElementsOf(rows.toList());
		assertThat(DESCRIPTIONS).extracting(Description::expectation).containsOnly("right", "wrong", "costly");
	}

	@Test
	void theFiguresAreAsExpected() throws Exception {
		Map<String, String> expectations = DESCRIPTIONS.stream()
			.collect(Collectors.toMap(Description::name, Description::expectation));
		List<String> rows = rowsAfter("| strategy | requests |", README);
		assertThat(rows).extracting((row) -> row.split(" *\\| *")[1])
			.containsExactly(StockDemonstration.STRATEGIES.split(","));
		assertThat(rows).allSatisfy((row) -> {
			String[] cells = row.split(" *\\| *");
			boolean wrong = "wrong".equals(expectations.get(cells[1]));
			assertThat(Long.parseLong(cells[4]) > 0).as("oversold").isEqualTo(wrong);
			assertThat(Long.parseLong(cells[5]) > 0).as("lost updates").isEqualTo(wrong);
		});
	}

	private static List<String> rowsAfter(String header, Path page) throws IOException {
		return Pattern.compile("\n" + Pattern.quote(header) + ".*\n.*\n((\\|.*\n)+)")
			.matcher(Files.readString(page))
			.results()
			.flatMap((table) -> table.group(1).lines())
			.toList();
	}

	private record Description(String name, String family, String description, String expectation) {
	}

}
