// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;

import javax.management.MBeanFeatureInfo;
import javax.management.MBeanParameterInfo;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;

import org.json.JSONException;
import org.junit.jupiter.api.Test;
import org.skyscreamer.jsonassert.JSONAssert;
import org.skyscreamer.jsonassert.JSONCompareMode;

import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.jackson.JacksonEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.jmx.JmxEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementContextAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.availability.ApplicationAvailabilityAutoConfiguration;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.LivenessState;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.AvailabilityProbesAutoConfiguration;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.HealthEndpointAutoConfiguration;
import org.springframework.boot.health.autoconfigure.application.AvailabilityHealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration;
import org.springframework.boot.http.converter.autoconfigure.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.servlet.autoconfigure.actuate.web.ServletManagementContextAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.actuate.endpoint.web.WebMvcHealthEndpointExtensionAutoConfiguration;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.web.context.WebApplicationContext;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.autoconfigure.DistributedLockAutoConfiguration;
import io.github.lockstarter.autoconfigure.LocksEndpointAutoConfiguration;
import io.github.lockstarter.autoconfigure.LocksHealthContributorAutoConfiguration;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.engine.Time;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.testsupport.Cases;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Actuator's endpoints of the locks, as users see them.
 */
class LocksOverHttpTests {

	private static final LockRequest STOCK = LockRequest.of("stock", 1001);

	private final ManualTime time = new ManualTime();

	private final LockMemory memory = new LockMemory(this.time);

	/** Another instance of the application. */
	private final DefaultLockRegistry elsewhere = new DefaultLockRegistry(new MemoryLockStore(this.memory),
			EngineSettings.DEFAULTS.withInstanceName("orders@web-2:9"), LockListener.NO_OP, this.time);

	private final WebApplicationContextRunner application = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ApplicationAvailabilityAutoConfiguration.class,
				JacksonAutoConfiguration.class, HttpMessageConvertersAutoConfiguration.class,
				DispatcherServletAutoConfiguration.class, WebMvcAutoConfiguration.class,
				EndpointAutoConfiguration.class, WebEndpointAutoConfiguration.class,
				JacksonEndpointAutoConfiguration.class, ManagementContextAutoConfiguration.class,
				ServletManagementContextAutoConfiguration.class, HealthContributorRegistryAutoConfiguration.class,
				HealthEndpointAutoConfiguration.class, WebMvcHealthEndpointExtensionAutoConfiguration.class,
				AvailabilityHealthContributorAutoConfiguration.class, AvailabilityProbesAutoConfiguration.class,
				DistributedLockAutoConfiguration.class, LocksEndpointAutoConfiguration.class,
				LocksHealthContributorAutoConfiguration.class))
		.withInitializer((context) -> context.getEnvironment().setConversionService(new ApplicationConversionService()))
		.withPropertyValues("management.endpoints.web.exposure.include=*",
				"distributed-lock.instance-name=orders@web-1:7", "management.endpoint.health.show-details=always")
		.withBean(Time.class, () -> this.time)
		.withBean("shelves", LockStore.class, () -> new MemoryLockStore(this.memory));

	private void run(BiConsumer<LockRegistry, MockMvcTester> test, String... properties) {
		this.application.withPropertyValues(properties)
			.run((context) -> test.accept(context.getBean(LockRegistry.class),
					MockMvcTester.from((WebApplicationContext) context.getSourceApplicationContext())));
	}

	@Test
	void itShowsWhatAnInstanceHoldsAndWaitsForAndMasksTheKeys() {
		run((registry, mvc) -> {
			Lease lease = registry.acquire(STOCK);
			Lease other = this.elsewhere.acquire(LockRequest.of("report"));
			CompletableFuture<Lease> future = registry.acquireAsync(LockRequest.of("report"));
			this.time.advance(Duration.ofSeconds(3));
			MvcTestResult result = mvc.get().uri("/actuator/locks").exchange();
			assertThat(result).hasStatusOk()
				.bodyJson()
				.isLenientlyEqualTo(
						"""
								{"instance": "orders@web-1:7", "registries": {"shelves": {
									"held": [{"name": "stock", "key": "******", "mode": "EXCLUSIVE", "fencingToken": "%d", "owner": "%s",
										"held": "PT3S", "renewals": 0, "status": "HELD"}],
									"heldLeftOut": 0,
									"waiting": [{"name": "report", "mode": "EXCLUSIVE", "owner": "a future", "waited": "PT3S", "left": "PT7S",
										"holder": "orders@web-2:9"}],
									"waitingLeftOut": 0}}}"""
							.formatted(lease.fencingToken(), Thread.currentThread().getName()));
			assertThat(result).bodyText().doesNotContain("1001");
			assertThat(result).bodyJson().extractingPath("$.registries.shelves.held[0].since").asString().endsWith("Z");
			assertThat(result).bodyJson()
				.extractingPath("$.registries.shelves.held[0].remaining")
				.asString()
				.startsWith("PT26.");
			future.cancel(false);
			this.time.settle();
			lease.close();
			other.close();
		});
	}

	@Test
	void itAnswersAsThePageSays() {
		run((registry, mvc) -> {
			Lease lease = registry.acquire(LockRequest.of("invoice", 7));
			Lease other = this.elsewhere.acquire(STOCK);
			assertShape(1, mvc.get().uri("/actuator/locks/stock/1001").exchange());
			CompletableFuture<Lease> future = registry.acquireAsync(STOCK);
			assertShape(0, mvc.get().uri("/actuator/locks").exchange());
			future.cancel(false);
			this.time.settle();
			lease.close();
			other.close();
		});
	}

	/** All but the values, and the names of the registry and of the waiters. */
	private static void assertShape(int block, MvcTestResult result) {
		try {
			String page = Files.readString(Path.of("..", "docs", "observability.md"));
			JSONAssert.assertEquals(shape(page.split("```json\n")[block + 1].split("```")[0]),
					shape(result.getResponse().getContentAsString()), JSONCompareMode.STRICT);
		}
		catch (IOException | JSONException ex) {
			throw new AssertionError(ex);
		}
	}

	private static String shape(String json) {
		return json.replaceAll(": *(\"[^\"]*\"|\\d+)", ": 0")
			.replaceAll("\\[\"[^\"]*\"]", "[]")
			.replace("\"redis\"", "\"shelves\"");
	}

	@Test
	void itShowsTheKeysToThoseWhoMaySeeThem() {
		String key = "$.registries.shelves.held[0].key";
		run((registry, mvc) -> {
			try (Lease lease = registry.acquire(STOCK)) {
				assertThat(mvc.get().uri("/actuator/locks")).bodyJson().extractingPath(key).isEqualTo("1001");
			}
		}, "management.endpoint.locks.show-values=always");
		run((registry, mvc) -> {
			try (Lease lease = registry.acquire(STOCK)) {
				assertThat(mvc.get().uri("/actuator/locks")).bodyJson().extractingPath(key).isEqualTo("******");
				assertThat(mvc.get().uri("/actuator/locks").principal(() -> "ada")).bodyJson()
					.extractingPath(key)
					.isEqualTo("******");
				assertThat(mvc.get().uri("/actuator/locks").principal(() -> "ada").with((request) -> {
					request.addUserRole("OPERATOR");
					return request;
				})).bodyJson().extractingPath(key).isEqualTo("1001");
			}
		}, "management.endpoint.locks.show-values=when-authorized", "management.endpoint.locks.roles=OPERATOR");
	}

	@Test
	void itShowsOneLockAsItsStoreDoes() {
		run((registry, mvc) -> {
			Lease lease = this.elsewhere.acquire(STOCK);
			this.time.advance(Duration.ofSeconds(3));
			assertThat(mvc.get().uri("/actuator/locks/stock/1001")).hasStatusOk()
				.bodyJson()
				.isStrictlyEqualTo("""
						{"registry": "shelves", "name": "stock", "key": "1001",
							"holders": [{"instance": "orders@web-2:9", "mode": "EXCLUSIVE", "remaining": "PT27S",
								"kept": false, "fencingToken": "%1$d"}],
							"fencingToken": "%1$d", "waiters": [],
							"here": {"held": [], "heldLeftOut": 0, "waiting": [], "waitingLeftOut": 0}}"""
					.formatted(lease.fencingToken()));
			lease.close();
			assertThat(mvc.get().uri("/actuator/locks/stock/1001?registry=other")).hasStatus(404)
				.bodyJson()
				.extractingPath("$.message")
				.asString()
				.contains("No lock registry has the name 'other'", "[shelves]");
		});
	}

	@Test
	void anAddressOfTwoLocksIsRefused() {
		run((registry, mvc) -> Cases.each(List.of("report/7?key=8", "report/?token=1", "report/7?key=7&token=1"),
				(path) -> {
					URI address = URI.create("/actuator/locks/" + path);
					assertThat(mvc.get().uri(address)).hasStatus(400)
						.bodyJson()
						.extractingPath("$.message")
						.asString()
						.contains("either the rest of the path or the parameter 'key'");
					assertThat(mvc.delete().uri(address)).hasStatus(400);
				}), "management.endpoint.locks.access=unrestricted");
	}

	@Test
	void aLockWithoutAKeyHasAnAddress() {
		run((registry, mvc) -> {
			Lease lease = this.elsewhere.acquire(LockRequest.of("report"));
			assertThat(mvc.get().uri("/actuator/locks/report")).hasStatusOk().bodyJson().satisfies((json) -> {
				json.assertThat().doesNotHavePath("$.key");
				json.assertThat().extractingPath("$.holders").asArray().hasSize(1);
			});
			assertThat(mvc.delete().uri("/actuator/locks/report?token=" + lease.fencingToken())).hasStatusOk();
		}, "management.endpoint.locks.access=unrestricted");
	}

	@Test
	void itFreesNoLockUnlessItMay() {
		run((registry, mvc) -> {
			try (Lease lease = this.elsewhere.acquire(STOCK)) {
				assertThat(mvc.delete().uri("/actuator/locks/stock/1001?token=" + lease.fencingToken())).hasStatus(405);
				assertThat(mvc.delete().uri("/actuator/locks/stock?key=1001&token=" + lease.fencingToken()))
					.hasStatus(405);
				assertThat(registry.tryAcquire(STOCK.withWaitTime(Duration.ZERO))).isEmpty();
			}
		});
	}

	@Test
	void itFreesALockForTheShownToken() {
		run((registry, mvc) -> {
			Lease lease = this.elsewhere.acquire(STOCK);
			Cases.rows("""
					                      | is missing
					?token=               | was ''
					?token=all            | was 'all'
					?token=-5             | was '-5'
					?token=9999999999999999999 | was '9999999999999999999'
					""",
					(query, message) -> assertThat(mvc.delete().uri("/actuator/locks/stock/1001" + query))
						.hasStatus(400)
						.bodyJson()
						.extractingPath("$.message")
						.asString()
						.contains("'token' must be a fencing token", message));
			assertThat(mvc.delete().uri("/actuator/locks/stock/1001?token=" + (lease.fencingToken() + 4096)))
				.hasStatus(409)
				.bodyJson()
				.extractingPath("$.holders[0].instance")
				.isEqualTo("orders@web-2:9");
			assertThat(mvc.delete().uri("/actuator/locks/stock/1001?token=" + lease.fencingToken())).hasStatusOk()
				.bodyJson()
				.extractingPath("$.message")
				.asString()
				.contains("was freed");
			registry.acquire(STOCK.withWaitTime(Duration.ZERO)).close();
			assertThat(mvc.delete().uri("/actuator/locks/stock/1001?token=" + lease.fencingToken())).hasStatus(404);
			this.time.advance(Duration.ofSeconds(30));
			assertThat(lease.isHeld()).isFalse();
		}, "management.endpoint.locks.access=unrestricted");
	}

	@Test
	void itDoesTheSameOverJmx() throws Exception {
		ObjectName name = new ObjectName("org.springframework.boot:type=Endpoint,name=Locks");
		MBeanServer server = MBeanServerFactory.newMBeanServer();
		this.application.withConfiguration(AutoConfigurations.of(JmxEndpointAutoConfiguration.class))
			.withBean(MBeanServer.class, () -> server)
			.withPropertyValues("spring.jmx.enabled=true", "management.endpoints.jmx.exposure.include=locks",
					"management.endpoint.locks.access=unrestricted")
			.run((context) -> {
				Lease lease = this.elsewhere.acquire(STOCK);
				try (Lease own = context.getBean(LockRegistry.class)
					.acquire(LockRequest.of("customer", "ada@example.com"))) {
					assertThat(server.invoke(name, "locks", new Object[0], new String[0])).asString()
						.contains("name=customer", "key=******")
						.doesNotContain("ada");
				}
				assertThat(server.getMBeanInfo(name).getOperations()).extracting(MBeanFeatureInfo::getName)
					.containsExactlyInAnyOrder("locks", "lock", "free");
				assertThat(server.invoke(name, "lock", new Object[] { "stock", "1001", null }, new String[3]))
					.asString()
					.contains("instance=orders@web-2:9", "fencingToken=" + lease.fencingToken());
				// JConsole calls no operation with a parameter of the class Object
				assertThat(server.getMBeanInfo(name).getOperations())
					.flatExtracting((operation) -> List.of(operation.getSignature()))
					.extracting(MBeanParameterInfo::getType)
					.containsOnly(String.class.getName());
				Object[] free = { "stock", "1001", "" + lease.fencingToken(), null };
				assertThat(server.invoke(name, "free", free, new String[4])).asString().contains("was freed");
			});
	}

	@Test
	void theHealthOfTheLocksHasNoAddressUnlessItsComponentsAreShown() {
		run((registry, mvc) -> assertThat(mvc.get().uri("/actuator/health/locks")).hasStatus(404),
				"management.endpoint.health.show-details=never");
		run((registry, mvc) -> assertThat(mvc.get().uri("/actuator/health/locks")).hasStatusOk(),
				"management.endpoint.health.show-details=never", "management.endpoint.health.show-components=always");
	}

	@Test
	void aStoreThatDoesNotAnswerIsDownButTheInstanceLives() {
		FaultInjectingStore broken = new FaultInjectingStore(new MemoryLockStore(this.memory));
		broken.inspect.loseRequests(() -> true);
		this.application.withBean("broken", LockStore.class, () -> broken, (bean) -> bean.setPrimary(true))
			.withPropertyValues("management.endpoint.health.probes.enabled=true")
			.run((context) -> {
				MockMvcTester mvc = MockMvcTester.from((WebApplicationContext) context.getSourceApplicationContext());
				AvailabilityChangeEvent.publish(context, LivenessState.CORRECT);
				AvailabilityChangeEvent.publish(context, ReadinessState.ACCEPTING_TRAFFIC);
				assertThat(mvc.get().uri("/actuator/health")).hasStatus(503)
					.bodyJson()
					.isLenientlyEqualTo(
							"""
									{"status": "DOWN", "components": {"locks": {"status": "DOWN", "components": {"broken": {"status": "DOWN",
										"details": {"error": "request lost", "held": 0, "waiting": 0, "suspects": 0, "orphans": 0,
										"renewalLag": "PT0S"}}}}}}""");
				assertThat(mvc.get().uri("/actuator/health/locks/broken")).hasStatus(503);
				assertThat(mvc.get().uri("/actuator/health/liveness")).hasStatusOk();
				assertThat(mvc.get().uri("/actuator/health/readiness")).hasStatusOk();
				assertThat(mvc.get().uri("/actuator/locks/stock/1001")).hasStatus(503)
					.bodyJson()
					.extractingPath("$.message")
					.asString()
					.contains("request lost");
			});
	}

}
