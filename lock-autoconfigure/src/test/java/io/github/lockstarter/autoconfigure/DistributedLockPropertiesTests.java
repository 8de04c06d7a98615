// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.io.ClassPathResource;

import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.redis.RedisLockSettings;

import static org.assertj.core.api.Assertions.assertThat;

class DistributedLockPropertiesTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
		.withPropertyValues("distributed-lock.backend=memory");

	@Test
	void theDefaultsAreThoseOfTheEngine() {
		this.runner.run((context) -> assertThat(context.getBean(DistributedLockProperties.class).engineSettings())
			.isEqualTo(EngineSettings.DEFAULTS));
		this.runner.run((context) -> assertThat(context.getBean(DistributedLockProperties.class).redisSettings())
			.isEqualTo(RedisLockSettings.DEFAULTS));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { //
			"key-prefix | {lock} | braces would change the slot", //
			"key-prefix | '' | 1 to 64 of the characters", //
			"wait-time | -1s | 0s does not wait", //
			"lease-time | 99ms | from 100ms to 365d", //
			"lease-time | 366d | from 100ms to 365d", //
			"shutdown-timeout | -1ms | must not be negative", //
			"watchdog.renewals-per-lease | 1 | so that one renewal may fail", //
			"watchdog.renewals-per-lease | 21 | to 20.", //
			"waiting.poll-interval | 0s | has to be positive", //
			"waiting.poll-interval-without-messages | -5ms | has to be positive", //
			"redis.min-replica-acks | -1 | must not be negative", //
			"redis.replica-ack-timeout | 0s | positive and at most 1s", //
			"redis.replica-ack-timeout | 1001ms | positive and at most 1s", //
			"redis.fence-retention | 29s | must not be shorter than 'distributed-lock.lease-time'" })
	void anInvalidValueNamesThePropertyAndTheReason(String name, String value, String reason) {
		this.runner.withPropertyValues("distributed-lock." + name + "=" + value)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(InvalidConfigurationPropertyValueException.class)
				.satisfies((ex) -> {
					InvalidConfigurationPropertyValueException invalid = (InvalidConfigurationPropertyValueException) ex;
					assertThat(invalid.getName()).isEqualTo("distributed-lock." + name);
					assertThat(invalid.getReason()).contains(reason);
				}));
	}

	@ParameterizedTest
	@ValueSource(strings = { "backend=paper", "wait-time=soon", "advice-order=first", "advice-mode=magic" })
	void aValueOfTheWrongTypeEndsTheStart(String property) {
		this.runner.withPropertyValues("distributed-lock." + property)
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("distributed-lock." + property.substring(0, property.indexOf('='))));
	}

	@Test
	void theMetadataDescribesEveryProperty() throws Exception {
		assertThat(metadata()).allSatisfy((name, property) -> {
			assertThat(property.get("description").toString()).as(name).endsWith(".");
			assertThat(property.containsKey("defaultValue")).as(name + " has a default").isTrue();
		}).hasSize(17);
	}

	@Test
	void theReadmeListsEveryPropertyWithItsDefault() throws Exception {
		Map<String, String> documented = new TreeMap<>();
		Matcher row = Pattern.compile("^\\| `(distributed-lock[^`]+)` \\| `([^`]+)` \\|", Pattern.MULTILINE)
			.matcher(Files.readString(Path.of("../README.md")));
		while (row.find()) {
			documented.put(row.group(1), row.group(2));
		}
		Map<String, String> actual = new TreeMap<>();
		metadata().forEach((name, property) -> actual.put(name, text(property.get("defaultValue"))));
		assertThat(documented).isEqualTo(actual);
	}

	private static String text(Object value) {
		return (value instanceof Number number) ? String.valueOf(number.longValue()) : value.toString();
	}

	@SuppressWarnings("unchecked")
	private static Map<String, Map<String, Object>> metadata() throws IOException {
		String json = new ClassPathResource("META-INF/spring-configuration-metadata.json")
			.getContentAsString(StandardCharsets.UTF_8);
		Map<String, Map<String, Object>> properties = new TreeMap<>();
		for (Object property : (List<?>) JsonParserFactory.getJsonParser().parseMap(json).get("properties")) {
			Map<String, Object> map = (Map<String, Object>) property;
			properties.put(map.get("name").toString(), map);
		}
		return properties;
	}

}
