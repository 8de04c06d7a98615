// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import java.net.URI;
import java.util.List;
import java.util.function.BiConsumer;

import jakarta.servlet.Filter;
import org.junit.jupiter.api.Test;

import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.jackson.JacksonEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementContextAutoConfiguration;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.boot.http.codec.autoconfigure.CodecsAutoConfiguration;
import org.springframework.boot.http.converter.autoconfigure.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.servlet.autoconfigure.actuate.web.ServletManagementContextAutoConfiguration;
import org.springframework.boot.test.context.runner.AbstractApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.webflux.autoconfigure.HttpHandlerAutoConfiguration;
import org.springframework.boot.webflux.autoconfigure.WebFluxAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.config.annotation.web.reactive.EnableWebFluxSecurity;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.security.web.server.util.matcher.PathPatternParserServerWebExchangeMatcher;
import org.springframework.test.web.reactive.server.StatusAssertions;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.test.web.servlet.client.MockMvcWebTestClient;
import org.springframework.web.context.WebApplicationContext;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.autoconfigure.DistributedLockAutoConfiguration;
import io.github.lockstarter.autoconfigure.LocksEndpointAutoConfiguration;
import io.github.lockstarter.testsupport.Cases;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The addresses of locks, and who may free them, on Spring MVC and on WebFlux.
 */
class LocksOnBothWebStacksTests {

	private static final AutoConfigurations LOCKS = AutoConfigurations.of(JacksonAutoConfiguration.class,
			EndpointAutoConfiguration.class, WebEndpointAutoConfiguration.class, JacksonEndpointAutoConfiguration.class,
			ManagementContextAutoConfiguration.class, DistributedLockAutoConfiguration.class,
			LocksEndpointAutoConfiguration.class);

	private final WebApplicationContextRunner mvc = configured(new WebApplicationContextRunner())
		.withConfiguration(AutoConfigurations.of(HttpMessageConvertersAutoConfiguration.class,
				DispatcherServletAutoConfiguration.class, WebMvcAutoConfiguration.class,
				ServletManagementContextAutoConfiguration.class));

	private final ReactiveWebApplicationContextRunner webFlux = configured(new ReactiveWebApplicationContextRunner())
		.withConfiguration(AutoConfigurations.of(CodecsAutoConfiguration.class, WebFluxAutoConfiguration.class,
				HttpHandlerAutoConfiguration.class));

	private static <S extends AbstractApplicationContextRunner<S, ?, ?>> S configured(S runner) {
		return runner.withConfiguration(LOCKS)
			.withInitializer(
					(context) -> context.getEnvironment().setConversionService(new ApplicationConversionService()))
			.withPropertyValues("distributed-lock.store=memory", "management.endpoints.web.exposure.include=locks",
					"management.endpoint.locks.access=unrestricted");
	}

	private void onBoth(BiConsumer<LockRegistry, WebTestClient> test) {
		this.mvc.run((context) -> test.accept(context.getBean(LockRegistry.class), mvcClient(context)));
		this.webFlux.run((context) -> test.accept(context.getBean(LockRegistry.class), webFluxClient(context)));
	}

	private static WebTestClient mvcClient(ApplicationContext context) {
		return MockMvcWebTestClient.bindToApplicationContext((WebApplicationContext) context).build();
	}

	private static WebTestClient webFluxClient(ApplicationContext context) {
		return WebTestClient.bindToApplicationContext(context).build();
	}

	private static URI address(String path) {
		return URI.create("/actuator/locks/" + path);
	}

	private static URI address(String path, Lease lease) {
		return address(path + (path.contains("?") ? "&" : "?") + "token=" + lease.fencingToken());
	}

	@Test
	void anyKeyHasAnAddressOnBothWebStacks() {
		onBoth((registry, client) -> Cases.rows("""
				1001                | report/1001
				a/b                 | report/a/b
				report/7            | report/report/7
				2026/08/report      | report/2026/08/report
				ü 1                 | report/%C3%BC%201
				日本                 | report/%E6%97%A5%E6%9C%AC
				a;b                 | report/a%3Bb
				100%                | report/100%25
				x%20y               | report/x%2520y
				a+b                 | report/a+b
				a.b                 | report/a.b
				a:b,c=d&e           | report/a:b,c=d&e
				1001                | report?key=1001
				a//b                | report?key=a//b
				/a                  | report?key=/a
				a/                  | report?key=a/
				.                   | report?key=.
				../c                | report?key=../c
				x%20y               | report?key=x%2520y
				a+b                 | report?key=a%2Bb
				ü 1                 | report?key=%C3%BC%201
				""", (key, path) -> {
			Lease lease = registry.acquire(LockRequest.of(new LockKey("report", key)));
			client.get()
				.uri(address(path))
				.exchange()
				.expectStatus()
				.isOk()
				.expectBody()
				.jsonPath("$.key")
				.isEqualTo(key)
				.jsonPath("$.holders.length()")
				.isEqualTo(1);
			client.delete().uri(address(path, lease)).exchange().expectStatus().isOk();
			assertThat(lease.isHeld()).isFalse();
		}));
	}

	@Test
	void aLockWithoutAKeyHasAnAddressOnBothWebStacks() {
		onBoth((registry, client) -> {
			Lease lease = registry.acquire(LockRequest.of("report"));
			client.get().uri(address("report")).exchange().expectBody().jsonPath("$.holders.length()").isEqualTo(1);
			client.delete().uri(address("report", lease)).exchange().expectStatus().isOk();
		});
	}

	@Test
	void anAddressOfNoLockOrOfTwoIsRefusedOnBothWebStacks() {
		onBoth((registry, client) -> Cases.each(
				List.of("report/7?key=8", "report/?token=1", "report/7?key=7&token=1", "report?key=", "?token=1"),
				(path) -> {
					client.get().uri(address(path)).exchange().expectStatus().isBadRequest();
					client.delete().uri(address(path)).exchange().expectStatus().isBadRequest();
				}));
	}

	@Test
	void anOperatorFreesALockThroughSpringSecurity() {
		this.mvc.withUserConfiguration(ServletSecurity.class)
			.run((context) -> assertThatOnlyOperatorsFreeALock(context.getBean(LockRegistry.class),
					MockMvcWebTestClient
						.bindToApplicationContext((WebApplicationContext) context.getSourceApplicationContext())
						.filters(context.getBean("springSecurityFilterChain", Filter.class))
						.build()));
		this.webFlux.withUserConfiguration(ReactiveSecurity.class)
			.run((context) -> assertThatOnlyOperatorsFreeALock(context.getBean(LockRegistry.class),
					webFluxClient(context)));
	}

	private static void assertThatOnlyOperatorsFreeALock(LockRegistry registry, WebTestClient client) {
		Lease lease = registry.acquire(LockRequest.of("report", 7));
		status(client, null, lease).isUnauthorized();
		status(client, "guest", lease).isForbidden();
		client.get()
			.uri(address("report/7"))
			.headers((headers) -> headers.setBasicAuth("guest", "secret"))
			.exchange()
			.expectStatus()
			.isForbidden();
		assertThat(lease.isHeld()).isTrue();
		status(client, "operator", lease).isOk();
		assertThat(lease.isHeld()).isFalse();
	}

	private static StatusAssertions status(WebTestClient client, String user, Lease lease) {
		return client.method(HttpMethod.DELETE).uri(address("report/7", lease)).headers((headers) -> {
			if (user != null) {
				headers.setBasicAuth(user, "secret");
			}
		}).exchange().expectStatus();
	}

	@Test
	void anApplicationWithAnEndpointOfTheSameIdLeavesOursOut() {
		WebApplicationContextRunner application = new WebApplicationContextRunner().withUserConfiguration(Doors.class)
			.withPropertyValues("distributed-lock.store=memory", "management.endpoints.web.exposure.include=locks");
		application.run((context) -> assertThat(context).getFailure()
			.rootCause()
			.hasMessageContaining("Found two endpoints with the id 'locks'"));
		application.withPropertyValues("spring.autoconfigure.exclude=" + LocksEndpointAutoConfiguration.class.getName())
			.run((context) -> mvcClient((WebApplicationContext) context.getSourceApplicationContext()).get()
				.uri("/actuator/locks")
				.exchange()
				.expectBody(String.class)
				.isEqualTo("those of the doors"));
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ JacksonAutoConfiguration.class, HttpMessageConvertersAutoConfiguration.class,
			DispatcherServletAutoConfiguration.class, WebMvcAutoConfiguration.class, EndpointAutoConfiguration.class,
			WebEndpointAutoConfiguration.class, ManagementContextAutoConfiguration.class,
			ServletManagementContextAutoConfiguration.class, DistributedLockAutoConfiguration.class,
			LocksEndpointAutoConfiguration.class })
	@Import(DoorsEndpoint.class)
	static class Doors {

	}

	@Endpoint(id = "locks")
	static class DoorsEndpoint {

		@ReadOperation
		String locks() {
			return "those of the doors";
		}

	}

	private static List<UserDetails> users() {
		return List.of(User.withUsername("operator").password("{noop}secret").roles("OPERATOR").build(),
				User.withUsername("guest").password("{noop}secret").roles("USER").build());
	}

	/** As docs/observability.md shows it, beside that of the application. */
	@EnableWebSecurity
	@Configuration(proxyBeanMethods = false)
	static class ServletSecurity {

		@Bean
		@Order(1)
		SecurityFilterChain locksEndpoint(HttpSecurity http) {
			return http.securityMatcher("/actuator/locks/**")
				.authorizeHttpRequests((requests) -> requests.anyRequest().hasRole("OPERATOR"))
				.csrf((csrf) -> csrf.disable())
				.httpBasic(Customizer.withDefaults())
				.build();
		}

		@Bean
		SecurityFilterChain application(HttpSecurity http) {
			return http.authorizeHttpRequests((requests) -> requests.anyRequest().authenticated())
				.httpBasic(Customizer.withDefaults())
				.build();
		}

		@Bean
		InMemoryUserDetailsManager people() {
			return new InMemoryUserDetailsManager(users());
		}

	}

	@EnableWebFluxSecurity
	@Configuration(proxyBeanMethods = false)
	static class ReactiveSecurity {

		@Bean
		@Order(1)
		SecurityWebFilterChain locksEndpoint(ServerHttpSecurity http) {
			return http.securityMatcher(new PathPatternParserServerWebExchangeMatcher("/actuator/locks/**"))
				.authorizeExchange((exchanges) -> exchanges.anyExchange().hasRole("OPERATOR"))
				.csrf((csrf) -> csrf.disable())
				.httpBasic(Customizer.withDefaults())
				.build();
		}

		@Bean
		SecurityWebFilterChain application(ServerHttpSecurity http) {
			return http.authorizeExchange((exchanges) -> exchanges.anyExchange().authenticated())
				.httpBasic(Customizer.withDefaults())
				.build();
		}

		@Bean
		MapReactiveUserDetailsService people() {
			return new MapReactiveUserDetailsService(users());
		}

	}

}
