// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.LockSettings;
import io.github.lockstarter.OnContention;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.OnUnavailable;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.redis.RedisLockSettings;
import io.github.lockstarter.testsupport.Cases;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class DistributedLockPropertiesTests {

	/**
	 * The memory is the store of these tests, there is no text for no locks, the name of
	 * an instance contains its process, other stores have addresses, and the place of the
	 * locks decides whether transactions are fenced.
	 */
	private static final Set<String> NOT_DEFAULTED = Set.of("distributed-lock.store", "distributed-lock.instance-name",
			"distributed-lock.locks", "distributed-lock.zookeeper.connect-string", "distributed-lock.redlock.nodes",
			"distributed-lock.fencing.exclude", "distributed-lock.fencing.transactions",
			"distributed-lock.fencing.table", "management.endpoint.locks.roles");

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
		.withPropertyValues("distributed-lock.store=memory");

	@Test
	void theDefaultsAreThoseOfTheEngine() {
		this.runner.run((context) -> {
			DistributedLockProperties properties = context.getBean(DistributedLockProperties.class);
			assertThat(properties.engineSettings(null)).isEqualTo(EngineSettings.DEFAULTS);
			assertThat(RedisLockConfiguration.settings(properties)).isEqualTo(RedisLockSettings.DEFAULTS);
		});
	}

	@Test
	void anInvalidValueNamesThePropertyAndTheReason() {
		Cases.rows(
				"""
						key-prefix | {lock} | braces would change the slot
						key-prefix | | 1 to 64 of the characters
						instance-name | my orders | must be 1 to 64 of the characters
						wait-time | -1s | must not be negative
						lease-time | 99ms | from 100 ms to 365 days
						lease-time | 366d | from 100 ms to 365 days
						shutdown-timeout | -1ms | must not be negative
						warn-after-wait | -1ms | must not be negative
						warn-after-hold | -1ms | must not be negative
						watchdog.renewals-per-lease | 1 | so that one renewal may fail
						watchdog.renewals-per-lease | 21 | to 20.
						waiting.poll-interval | 0s | must be positive
						waiting.poll-interval | 31s | must be at most 30s, because an instance that asks less often counts as dead
						waiting.poll-interval-without-messages | -5ms | must be positive
						waiting.outage-time | -1ms | must not be negative
						redis.min-replica-acks | -1 | must not be negative
						redis.replica-ack-timeout | 0s | must be positive
						redis.replica-ack-timeout | 1001ms | at most 1s
						redis.fence-retention | 29s | must not be shorter than 'distributed-lock.lease-time'
						redlock.restart-delay | -1ms | must not be negative
						zookeeper.root | /zookeeper | It has to be a path of its own
						jdbc.max-poll-interval | 1ms | must not be shorter than 'distributed-lock.jdbc.min-poll-interval'
						fencing.retention | 29s | must not be shorter than 'distributed-lock.lease-time'
						""",
				(name, value, reason) -> {
					this.runner.withPropertyValues("distributed-lock." + name + "=" + value)
						.run((context) -> assertThat(context).getFailure()
							.rootCause()
							.isInstanceOf(InvalidConfigurationPropertyValueException.class)
							.satisfies((ex) -> {
								InvalidConfigurationPropertyValueException invalid = (InvalidConfigurationPropertyValueException) ex;
								assertThat(invalid.getName()).isEqualTo("distributed-lock." + name);
								assertThat(invalid.getReason()).contains(reason);
							}));
				});
	}

	@Test
	void aValueOfTheWrongTypeEndsTheStart() {
		Cases.each(List.of("store=paper", "on-active-transaction=later", "persistence-context=later"),
				(property) -> this.runner.withPropertyValues("distributed-lock." + property)
					.run((context) -> assertThat(context).getFailure()
						.hasStackTraceContaining("distributed-lock." + property.substring(0, property.indexOf('=')))));
	}

	@Test
	void anInstanceIsNamedAfterItsApplicationHostAndProcess() {
		String pid = ":" + ProcessHandle.current().pid();
		this.runner.withPropertyValues("spring.application.name=Order service")
			.run((context) -> assertThat(context.getBean(EngineSettings.class).instanceName())
				.startsWith("Order-service@")
				.endsWith(pid));
		this.runner.withPropertyValues("spring.application.name=orders", "distributed-lock.instance-name=web-1")
			.run((context) -> assertThat(context.getBean(EngineSettings.class).instanceName()).isEqualTo("web-1"));
	}

	@Test
	void theDefaultOfAReactionMayBeNamed() {
		this.runner
			.withPropertyValues("distributed-lock.on-active-transaction=default",
					"distributed-lock.locks.stock.on-contention=default", "distributed-lock.locks.stock.on-lost=log")
			.run((context) -> assertThat(context.getBean(LockSettings.class).get("stock"))
				.isEqualTo(new LockSettings.ForName(null, null, null, null, OnContention.DEFAULT, OnUnavailable.DEFAULT,
						OnLost.LOG)));
	}

	@Test
	void anUnknownPropertyEndsTheStart() {
		Cases.each(
				List.of("wait-tiem", "redis.fence-retension", "jdbc.pool-sice", "fencing.exclud", "zookeeper.rot",
						"redlock.node", "locks.stock.stroe", "locks.order.place.wait-time"),
				(property) -> this.runner
					.withPropertyValues("distributed-lock." + property + "=10s", "distributed-locks.wait-tiem=1s")
					.run((context) -> assertThat(context).getFailure()
						.rootCause()
						.isInstanceOfSatisfying(UnboundConfigurationPropertiesException.class,
								(unbound) -> assertThat(unbound.getUnboundProperties())
									.extracting(ConfigurationProperty::getName)
									.containsExactly(ConfigurationPropertyName.of("distributed-lock." + property)))));
	}

	@Test
	void environmentVariablesAreBoundAndMayBeOfOtherPrograms() {
		Cases.rows("""
				DISTRIBUTEDLOCK_LEASETIME | DISTRIBUTEDLOCK_JDBC_POOLSIZE | DISTRIBUTEDLOCK_FENCING_TABLE
				DISTRIBUTED_LOCK_LEASE_TIME | DISTRIBUTED_LOCK_JDBC_POOL_SIZE | DISTRIBUTED_LOCK_FENCING_TABLE
				""", (leaseTime, poolSize, table) -> {
			environment(Map.of(leaseTime, "40s", poolSize, "7", table, "my_fence", "DISTRIBUTEDLOCK_WAITTIEM",
					"of another"))
				.run((context) -> {
					DistributedLockProperties properties = context.getBean(DistributedLockProperties.class);
					assertThat(properties.leaseTime()).hasSeconds(40);
					assertThat(properties.jdbc().poolSize()).isEqualTo(7);
					assertThat(properties.fenceTable()).isEqualTo("my_fence");
				});
		});
	}

	@Test
	void everyPropertyIsKnown(CapturedOutput output) throws Exception {
		List<String> all = metadata().entrySet()
			.stream()
			.filter((property) -> !NOT_DEFAULTED.contains(property.getKey()))
			.map((property) -> property.getKey() + "=" + text(property.getValue().get("defaultValue")))
			.toList();
		this.runner.withPropertyValues(all.toArray(String[]::new)).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("WARN");
	}

	@Test
	void theSettingsOfALockNameAreBound() {
		this.runner
			.withPropertyValues("distributed-lock.locks.stock.wait-time=1s",
					"distributed-lock.locks.stock.lease-time=2s", "distributed-lock.locks.stock.hold-at-least=3s",
					"distributed-lock.locks.stock.on-contention=skip",
					"distributed-lock.locks.stock.on-unavailable=fallback", "distributed-lock.locks.stock.on-lost=log",
					"distributed-lock.locks[Shop_1.buy#$].wait-time=0s",
					"distributed-lock.locks[Shop_1.buy#$].hold-at-most=4s")
			.run((context) -> {
				LockSettings settings = context.getBean(LockSettings.class);
				assertThat(settings.names()).containsOnlyKeys("stock", "Shop_1.buy#$");
				assertThat(settings.get("stock"))
					.isEqualTo(new LockSettings.ForName(Duration.ofSeconds(1), Duration.ofSeconds(2),
							Duration.ofSeconds(3), null, OnContention.SKIP, OnUnavailable.FALLBACK, OnLost.LOG));
				assertThat(settings.get("Shop_1.buy#$")).isEqualTo(new LockSettings.ForName(Duration.ZERO, null, null,
						Duration.ofSeconds(4), OnContention.DEFAULT, OnUnavailable.DEFAULT, OnLost.DEFAULT));
			});
	}

	@Test
	void onlyDotsAndSignsNeedBrackets() {
		Cases.rows("""
				orderPlace | orderPlace
				Order-Place_2 | Order-Place_2
				[order.place] | order.place
				[order$place#] | order$place#
				order$place# | orderplace
				""", (written, lock) -> this.runner
			.withPropertyValues("distributed-lock.locks." + written + ".wait-time=7s")
			.run((context) -> assertThat(context.getBean(LockSettings.class).get(lock).waitTime()).hasSeconds(7)));
	}

	@Test
	void theSettingsOfALockNameMayComeFromTheEnvironment() {
		environment(Map.of("DISTRIBUTEDLOCK_LOCKS_STOCK_WAITTIME", "7s"))
			.run((context) -> assertThat(context.getBean(LockSettings.class).get("stock").waitTime()).hasSeconds(7));
	}

	@Test
	void whatIsNoSettingOfALockNameEndsTheStart() {
		Cases.rows(
				"""
						locks[no name].wait-time=1s | distributed-lock.locks[no name] | 'name' must be 1 to 128
						locks.stock.wait-time=-1s | distributed-lock.locks.stock.wait-time | 'waitTime' must not be negative
						locks.stock.lease-time=9ms | distributed-lock.locks.stock.lease-time | 'leaseTime' must be from 10 ms to 365 days
						locks[order.place].hold-at-least=366d | distributed-lock.locks[order.place].hold-at-least | 'holdAtLeast' must be from
						locks.stock.hold-at-most=9ms | distributed-lock.locks.stock.hold-at-most | 'holdAtMost' must be from
						locks.stock.on-contention=wait | distributed-lock.locks.stock.on-contention | No enum constant
						locks.stock=5s | distributed-lock.locks | LockNameProperties
						""",
				(property, name, problem) -> this.runner.withPropertyValues("distributed-lock." + property)
					.run((context) -> assertThat(context).getFailure()
						.hasStackTraceContaining(name)
						.hasStackTraceContaining(problem)));
	}

	private ApplicationContextRunner environment(Map<String, Object> variables) {
		return this.runner.withInitializer((context) -> context.getEnvironment()
			.getPropertySources()
			.replace(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, new SystemEnvironmentPropertySource(
					StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, variables)));
	}

	@Test
	void theMetadataDescribesEveryProperty() throws Exception {
		assertThat(metadata()).allSatisfy((name, property) -> {
			assertThat(property.get("description").toString()).as(name).endsWith(".");
			assertThat(property.containsKey("defaultValue") || NOT_DEFAULTED.contains(name)).as(name + " has a default")
				.isTrue();
		}).hasSize(54);
	}

	@Test
	void theDocumentationListsEveryPropertyWithItsDefault() throws Exception {
		Map<String, String> actual = new TreeMap<>();
		metadata().forEach((name, property) -> actual.put(name, text(property.get("defaultValue"))));
		assertThat(documented("docs/reference.md", "docs/stores.md", "docs/transactions.md", "docs/observability.md"))
			.isEqualTo(actual);
		assertThat(documented("README.md")).hasSize(8);
		assertThat(actual).containsAllEntriesOf(documented("README.md"));
	}

	private static Map<String, String> documented(String... pages) throws IOException {
		Map<String, String> documented = new TreeMap<>();
		for (String page : pages) {
			Matcher row = Pattern
				.compile("^\\| `((?:distributed-lock|management)[^`]+)` \\| (?:`([^`]+)`|not set) \\|",
						Pattern.MULTILINE)
				.matcher(Files.readString(Path.of("..", page)));
			while (row.find()) {
				documented.put(row.group(1), (row.group(2) != null) ? row.group(2) : "none");
			}
		}
		return documented;
	}

	@Test
	void eachHintBelongsToAPropertyAndNamesTypesThatExist() throws Exception {
		Set<String> properties = metadata().keySet();
		assertThat(metadata("hints"))
			.containsKeys("distributed-lock.jdbc.schema", "distributed-lock.jdbc.platform",
					"distributed-lock.fencing.exclude")
			.allSatisfy((name, hint) -> {
				assertThat(properties).contains(name.replace(".keys", ""));
				Matcher target = Pattern.compile("target=([A-Za-z.]+)").matcher(hint.toString());
				while (target.find()) {
					assertThat(ClassUtils.isPresent(target.group(1), null)).as(target.group(1)).isTrue();
				}
			});
	}

	private static String text(@Nullable Object value) {
		if (value == null) {
			return "none";
		}
		return (value instanceof Number number) ? String.valueOf(number.longValue()) : value.toString();
	}

	private static Map<String, Map<String, Object>> metadata() throws IOException {
		return metadata("properties");
	}

	@SuppressWarnings("unchecked")
	private static Map<String, Map<String, Object>> metadata(String part) throws IOException {
		String json = new ClassPathResource("META-INF/spring-configuration-metadata.json")
			.getContentAsString(StandardCharsets.UTF_8);
		Map<String, Map<String, Object>> properties = new TreeMap<>();
		for (Object property : (List<?>) JsonParserFactory.getJsonParser().parseMap(json).get(part)) {
			Map<String, Object> map = (Map<String, Object>) property;
			properties.put(map.get("name").toString(), map);
		}
		return properties;
	}

}
