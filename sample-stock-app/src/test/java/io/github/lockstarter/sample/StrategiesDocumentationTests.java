// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import io.github.lockstarter.sample.stock.Expectation;
import io.github.lockstarter.sample.stock.StrategyDescription;
import io.github.lockstarter.servers.SharedServers;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The documentation names the strategies that the API answers with. Nothing is sold, so
 * the servers of the other stores need not be there, and nothing is created that only a
 * sale needs.
 */
@ActiveProfiles({ "jpa", "libraries", "stores" })
@DirtiesContext
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "spring.main.lazy-initialization=true", "spring.datasource.url=jdbc:h2:mem:strategies",
				"spring.datasource.username=sa", "distributed-lock.zookeeper.connect-string=127.0.0.1:1",
				"distributed-lock.redlock.nodes=127.0.0.1:1,127.0.0.1:2,127.0.0.1:3" })
class StrategiesDocumentationTests {

	private static final Path README = Path.of("..", "README.md");

	private static final Path README_OF_SHOP = Path.of("README.md");

	private List<StrategyDescription> strategies = List.of();

	@DynamicPropertySource
	static void properties(DynamicPropertyRegistry registry) {
		registry.add("spring.data.redis.port", () -> SharedServers.redis().port());
	}

	@BeforeEach
	void ask(@LocalServerPort int port) {
		this.strategies = JsonMapper.shared()
			.readValue(ShopClient.of(port).get("/strategies").body(), new TypeReference<>() {
			});
	}

	@Test
	void theShopDocumentsItsStrategies() throws Exception {
		List<String> rows = this.strategies.stream()
			.sorted(Comparator.comparing(StrategyDescription::family))
			.map((strategy) -> "| `%s` | `%s` | %s | %s |".formatted(name(strategy.family()), strategy.name(),
					name(strategy.expectation()), strategy.description()))
			.toList();
		assertThat(rowsAfter("| family | strategy |", README_OF_SHOP)).containsExactlyElementsOf(rows);
	}

	@Test
	void theFiguresAreAsExpected() throws Exception {
		Map<String, StrategyDescription> known = this.strategies.stream()
			.collect(Collectors.toMap(StrategyDescription::name, Function.identity()));
		List<String> names = List.of(StockDemonstration.STRATEGIES.split(","));
		assertThat(known).containsKeys(names.toArray(String[]::new));
		List<String> rows = rowsAfter("| strategy | requests |", README);
		assertThat(rows).extracting((row) -> row.split(" *\\| *")[1]).isEqualTo(names);
		assertThat(rows).allSatisfy((row) -> {
			String[] cells = row.split(" *\\| *");
			boolean wrong = known.get(cells[1]).expectation() == Expectation.WRONG;
			assertThat(Long.parseLong(cells[4]) > 0).as("oversold").isEqualTo(wrong);
			assertThat(Long.parseLong(cells[5]) > 0).as("lost updates").isEqualTo(wrong);
		});
	}

	private static String name(Enum<?> constant) {
		return JsonMapper.shared().convertValue(constant, String.class);
	}

	private static List<String> rowsAfter(String header, Path page) throws IOException {
		return Pattern.compile("\n" + Pattern.quote(header) + ".*\n.*\n((\\|.*\n)+)")
			.matcher(Files.readString(page))
			.results()
			.flatMap((table) -> table.group(1).lines())
			.toList();
	}

}
