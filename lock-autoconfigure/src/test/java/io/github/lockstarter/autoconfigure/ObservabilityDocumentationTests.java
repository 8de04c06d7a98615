// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.jayway.jsonpath.JsonPath;
import io.micrometer.common.KeyValues;
import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.observation.DefaultLockObservationConvention;
import io.github.lockstarter.observation.LockObservationContext;
import io.github.lockstarter.observation.LockObservationContext.Outcome;
import io.github.lockstarter.observation.LockObservationConvention;
import io.github.lockstarter.observation.LockObservationDocumentation;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page about observability, the dashboard and the alert rules name what Prometheus
 * gets from an application.
 */
class ObservabilityDocumentationTests {

	private static final Path DOCS = Path.of("..", "docs");

	private static final Pattern METRIC = Pattern.compile("\\bdistributed_lock_\\w+");

	private static final Pattern LABEL = Pattern.compile("\\block_\\w+(?==|\\b)");

	private static final Pattern OUTCOME = Pattern.compile("lock_outcome=~?\"(\\w+)\"");

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, LockObservationAutoConfiguration.class,
						ObservationAutoConfiguration.class, MetricsAutoConfiguration.class))
		.withBean(PrometheusMeterRegistry.class, () -> new PrometheusMeterRegistry(PrometheusConfig.DEFAULT))
		.withPropertyValues("distributed-lock.store=memory");

	@Test
	void theDashboardQueriesWhatIsThere() throws Exception {
		String dashboard = Files.readString(DOCS.resolve("grafana-dashboard.json"));
		List<String> expressions = JsonPath.read(dashboard, "$.panels[*].targets[*].expr");
		List<String> variables = JsonPath.read(dashboard, "$.templating.list[*].definition");
		assertThat(JsonPath.<List<String>>read(dashboard, "$.templating.list[?(@.type == 'datasource')].query"))
			.containsExactly("prometheus");
		assertThat(JsonPath.<List<String>>read(dashboard, "$.panels..datasource.uid")).containsOnly("${datasource}");
		assertThat(expressions).hasSizeGreaterThan(10);
		assertAllAreThere(Stream.concat(expressions.stream(), variables.stream()).toList());
	}

	@Test
	void theAlertRulesQueryWhatIsThere() throws Exception {
		Map<String, List<Map<String, List<Map<String, Object>>>>> file = new Yaml()
			.load(Files.readString(DOCS.resolve("alerts.yml")));
		List<Map<String, Object>> rules = file.get("groups").get(0).get("rules");
		assertThat(rules).hasSizeGreaterThan(5)
			.allSatisfy((rule) -> assertThat(rule).containsKeys("alert", "expr", "labels", "annotations"));
		assertAllAreThere(rules.stream().map((rule) -> (String) rule.get("expr")).toList());
	}

	/** No rate is seen in the first event of a series that begins with it. */
	@Test
	void theAlertOfAnOutageCountsFromTheStart() throws IOException {
		assertThat(Files.readString(DOCS.resolve("alerts.yml")))
			.contains("rate(distributed_lock_unavailable_total[5m])");
		this.runner.run((context) -> assertThat(context.getBean(PrometheusMeterRegistry.class).scrape())
			.contains("distributed_lock_unavailable_total{lock_store=\"memory\"} 0.0"));
	}

	private void assertAllAreThere(List<String> expressions) {
		this.runner.run((context) -> {
			context.getBean(LockRegistry.class).acquire(LockRequest.of("stock", 1001)).close();
			String scrape = context.getBean(PrometheusMeterRegistry.class).scrape();
			assertThat(expressions).allSatisfy((expression) -> {
				assertThat(found(METRIC, expression)).isNotEmpty().isSubsetOf(found(METRIC, scrape));
				assertThat(found(LABEL, expression)).isSubsetOf(found(LABEL, scrape));
			});
			assertThat(Arrays.stream(Outcome.values()).map(Outcome::text))
				.containsAll(OUTCOME.matcher(String.join("\n", expressions))
					.results()
					.map((outcome) -> outcome.group(1))
					.toList());
		});
	}

	private static Set<String> found(Pattern pattern, String text) {
		return pattern.matcher(text).results().map(MatchResult::group).collect(Collectors.toCollection(TreeSet::new));
	}

	@Test
	void thePageHasAllMetersKeyValuesAndOutcomes() throws Exception {
		String page = Files.readString(DOCS.resolve("observability.md"));
		List<String> names = new ArrayList<>();
		this.runner.run((context) -> {
			context.getBean(LockRegistry.class).acquire(LockRequest.of("stock", 1001)).close();
			context.getBean(PrometheusMeterRegistry.class)
				.getMeters()
				.stream()
				.map(Meter::getId)
				.map(Meter.Id::getName)
				.filter((name) -> name.startsWith("distributed.lock"))
				.forEach(names::add);
		});
		assertThat(names).hasSize(13);
		for (LockObservationDocumentation each : LockObservationDocumentation.values()) {
			names.add(each.getName());
			Stream.of(each.getLowCardinalityKeyNames(), each.getHighCardinalityKeyNames())
				.flatMap(Arrays::stream)
				.map(KeyName::asString)
				.forEach(names::add);
		}
		Arrays.stream(Outcome.values()).map(Outcome::text).forEach(names::add);
		assertThat(names).allSatisfy((name) -> assertThat(page).contains("`" + name + "`"));
	}

	@Test
	void theExampleOfAConventionWorks() throws IOException {
		String page = Files.readString(DOCS.resolve("observability.md"));
		String example = page.substring(page.indexOf("```java\n") + "```java\n".length());
		String source = Files.readString(Path.of("src/test/java", getClass().getName().replace('.', '/') + ".java"));
		assertThat(withoutIndentation(source))
			.contains(withoutIndentation(example.substring(0, example.indexOf("```"))));
		this.runner.withUserConfiguration(Example.class).run((context) -> {
			context.getBean(LockRegistry.class).acquire(LockRequest.of("stock", 1001)).close();
			assertThat(context.getBean(PrometheusMeterRegistry.class)
				.get("distributed.lock.hold")
				.tag("region", "eu")
				.timer()
				.count()).isOne();
		});
	}

	private static String withoutIndentation(String text) {
		return text.replaceAll("\\s*\\n\\s*", "\n").strip();
	}

	static class Example {

		@Bean
		LockObservationConvention lockObservationConvention() {
			return new DefaultLockObservationConvention() {

				@Override
				public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
					return super.getLowCardinalityKeyValues(context).and("region", "eu");
				}

			};
		}

	}

}
