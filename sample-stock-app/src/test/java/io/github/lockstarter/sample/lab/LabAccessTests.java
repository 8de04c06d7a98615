// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.lab;

import java.net.InetAddress;
import java.net.URI;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.mock.web.MockFilterChain;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.request.MockHttpServletRequestBuilder;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.server.ResponseStatusException;

import io.github.lockstarter.sample.AbstractShopTests;
import io.github.lockstarter.testsupport.Cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

/**
 * Who may see and use the lab of a shop, and what it refuses to sell. No process is
 * started.
 */
class LabAccessTests extends AbstractShopTests {

	private MockMvc mvc;

	private String token;

	@BeforeEach
	void connect(@Autowired WebApplicationContext context, @Autowired LabAccess access) {
		this.mvc = MockMvcBuilders.webAppContextSetup(context).build();
		this.token = access.token();
	}

	@Test
	void thePageLearnsWhatThereIs() throws Exception {
		MockHttpServletResponse response = send(get());
		assertThat(response.getStatus()).isEqualTo(200);
		assertThat(response.getHeader("Content-Security-Policy")).contains("default-src 'self'",
				"frame-ancestors 'none'");
		JsonNode lab = JsonMapper.shared().readTree(response.getContentAsString());
		assertThat(lab.get("token").asString()).isEqualTo(this.token);
		assertThat(lab.get("strategies").findValuesAsString("name")).startsWith("none")
			.contains("distributed-lock", "redis-lua", "redisson")
			.doesNotContain("jpa-open-in-view", "distributed-lock-zookeeper", "unavailable");
		assertThat(lab.get("missing"))
			.extracting((each) -> each.get("name").asString(), (each) -> each.get("profile").asString())
			.containsExactly(tuple("distributed-lock-jdbc", "stores"), tuple("distributed-lock-redis", "stores"),
					tuple("distributed-lock-redlock", "stores"), tuple("distributed-lock-zookeeper", "stores"),
					tuple("jpa-open-in-view", "jpa"), tuple("jpa-open-in-view-ignored", "jpa"));
		assertThat(lab.get("faults").findValuesAsString("name")).containsExactly("none", "slow", "pause", "crash",
				"redis-restart", "flushall");
		assertThat(lab.get("limits")).isEqualTo(JsonMapper.shared().readTree("""
				{"instances":4,"users":200,"stock":2000,"strategies":12}"""));
		assertThat(lab.get("defaults")).isEqualTo(JsonMapper.shared().readTree("""
				{"strategies":["none","distributed-lock"],"instances":2,"users":50,"stock":500,"fault":"none"}"""));
		assertThat(lab.get("run").isNull()).isTrue();
	}

	@Test
	void noOtherComputerIsObeyed() throws Exception {
		for (MockHttpServletRequestBuilder request : all()) {
			assertRefused(request.header(LabAccess.TOKEN_HEADER, this.token).with((each) -> {
				each.setRemoteAddr("192.0.2.7");
				return each;
			}), "only this computer");
		}
	}

	@Test
	void aShopThatServesOtherComputersHasNoLab(@Autowired LabController lab) throws Exception {
		InetAddress loopback = InetAddress.getLoopbackAddress();
		HandlerMethod handler = new HandlerMethod(lab, LabController.class.getDeclaredMethod("lab"));
		Cases.each(
				List.of(new LabAccess(InetAddress.getByName("0.0.0.0"), "none"), new LabAccess(loopback, "native"),
						new LabAccess(loopback, "framework")),
				(access) -> assertThatExceptionOfType(ResponseStatusException.class).isThrownBy(
						() -> access.preHandle(new MockHttpServletRequest(), new MockHttpServletResponse(), handler))
					.withMessageContaining("The lab is closed"));
		assertThat(new LabAccess(loopback, "NONE").preHandle(new MockHttpServletRequest(),
				new MockHttpServletResponse(), handler))
			.isTrue();
	}

	@Test
	void noOtherNameOfThisComputerIsAnswered() throws Exception {
		for (String host : new String[] { "shop.example", "127.0.0.1.shop.example", "localhost.example:8080" }) {
			for (MockHttpServletRequestBuilder request : all()) {
				assertRefused(request.header(LabAccess.TOKEN_HEADER, this.token).header("Host", host), "only, not at");
			}
		}
		for (String host : new String[] { "localhost:8080", "127.0.0.1", "[::1]:8080" }) {
			assertThat(send(get().header("Host", host)).getStatus()).as(host).isEqualTo(200);
		}
	}

	@Test
	void anInstanceObeysNoOtherNameOfThisComputer() throws Exception {
		for (String host : new String[] { "evil.example", "127.0.0.1.shop.example", "127.0.0.1" }) {
			MockHttpServletRequest request = new MockHttpServletRequest("POST", "/api/stock/1/deductions");
			request.addHeader("Host", host);
			request.setServerName(host);
			MockFilterChain served = new MockFilterChain();
			MockHttpServletResponse response = new MockHttpServletResponse();
			new InstanceAccess().doFilter(request, response, served);
			assertThat(response.getStatus()).as(host).isEqualTo(host.equals("127.0.0.1") ? 200 : 403);
			assertThat(served.getRequest()).as(host).isEqualTo(host.equals("127.0.0.1") ? request : null);
		}
	}

	@Test
	void whatIsMoreThanLookingNeedsTheToken() throws Exception {
		for (MockHttpServletRequestBuilder request : changing()) {
			assertRefused(request, "token of this start");
		}
		for (MockHttpServletRequestBuilder request : changing()) {
			assertRefused(request.header(LabAccess.TOKEN_HEADER, this.token + "0"), "token of this start");
		}
		// However the path is written
		assertRefused(MockMvcRequestBuilders.delete(URI.create("/api/l%61b;a=b/runs/1")), "token of this start");
	}

	@Test
	void whatIsNotThereIsNotFound() throws Exception {
		for (MockHttpServletRequestBuilder request : new MockHttpServletRequestBuilder[] {
				request(HttpMethod.GET, "/runs/1/events"), request(HttpMethod.DELETE, "/runs/1"),
				request(HttpMethod.POST, "/instances/1/pause"), request(HttpMethod.POST, "/instances/1/kill") }) {
			assertThat(send(request.header(LabAccess.TOKEN_HEADER, this.token)).getStatus()).isEqualTo(404);
		}
	}

	@Test
	void whatCannotBeSoldIsRefusedWithTheReason() throws Exception {
		Cases
			.rows("""
					strategies: ['none', 'hope']      | This shop does not have the strategy hope
					strategies: []                    | Choose 1 to 12 strategies, not 0
					strategies: null                  | Choose 1 to 12 strategies, not 0
					strategies: 'none'                | 'strategies' has to be a list of names
					strategies: [{}]                  | 'strategies' has to be a list of names
						instances: 5                      | Choose 1 to 4 instances, not 5
					instances: 1.0                    | 'instances' has to be a whole number from 1 to 4
					users: 0                          | Choose 1 to 200 users, not 0
					users: 2.7                        | 'users' has to be a whole number from 1 to 200
					users: true                       | 'users' has to be a whole number from 1 to 200
					users: null                       | 'users' has to be a whole number from 1 to 200
					stock: 2001                       | Choose 1 to 2000 pieces, not 2001
					stock: 99999999999                | 'stock' has to be a whole number from 1 to 2000
					stock: '50'                       | 'stock' has to be a whole number from 1 to 2000
					fault: 3                          | 'fault' has to be one of none, slow, pause, crash, redis-restart, flushall
					fault: '3'                        | 'fault' has to be one of none, slow, pause, crash, redis-restart, flushall
					fault: ''                         | 'fault' has to be one of none, slow, pause, crash, redis-restart, flushall
					fault: 'CRASH'                    | 'fault' has to be one of none, slow, pause, crash, redis-restart, flushall""",
					(field, reason) -> assertThat(reason(with(field))).isEqualTo(reason));
		String example = "Send JSON such as {\"strategies\":[\"none\",\"distributed-lock\"],\"instances\":2,\"users\":50,"
				+ "\"stock\":500,\"fault\":\"none\"}";
		Cases.each(List.of("", "{", "null", "[]", "1", "strategies=none", with("strategies: [null]"),
				with("users: 1") + "}"), (body) -> assertThat(reason(body)).isEqualTo(example));
	}

	/** A request that is right but for one field. */
	private static String with(String field) {
		Map<String, String> fields = new LinkedHashMap<>(
				Map.of("strategies", "['none']", "instances", "1", "users", "1", "stock", "1", "fault", "'none'"));
		fields.put(field.split(": ")[0], field.split(": ")[1]);
		return fields.entrySet()
			.stream()
			.map((each) -> "'%s':%s".formatted(each.getKey(), each.getValue()))
			.collect(Collectors.joining(",", "{", "}"))
			.replace('\'', '"');
	}

	private String reason(String body) throws Exception {
		MockHttpServletResponse response = send(
				request(HttpMethod.POST, "/runs").header(LabAccess.TOKEN_HEADER, this.token)
					.contentType(MediaType.APPLICATION_JSON)
					.content(body));
		assertThat(response.getStatus()).isEqualTo(400);
		return JsonMapper.shared().readTree(response.getContentAsString()).get("detail").asString();
	}

	private static MockHttpServletRequestBuilder request(HttpMethod method, String path) {
		return MockMvcRequestBuilders.request(method, "/api/lab" + path);
	}

	private static MockHttpServletRequestBuilder get() {
		return request(HttpMethod.GET, "");
	}

	private static MockHttpServletRequestBuilder[] changing() {
		return new MockHttpServletRequestBuilder[] { request(HttpMethod.POST, "/runs"),
				request(HttpMethod.GET, "/runs/1/events"), request(HttpMethod.DELETE, "/runs/1"),
				request(HttpMethod.POST, "/instances"), request(HttpMethod.POST, "/instances/1/pause"),
				request(HttpMethod.POST, "/instances/1/kill") };
	}

	private static MockHttpServletRequestBuilder[] all() {
		MockHttpServletRequestBuilder[] all = Arrays.copyOf(changing(), 7);
		all[6] = get();
		return all;
	}

	private MockHttpServletResponse send(MockHttpServletRequestBuilder request) throws Exception {
		return this.mvc.perform(request).andReturn().getResponse();
	}

	private void assertRefused(MockHttpServletRequestBuilder request, String reason) throws Exception {
		MockHttpServletResponse response = send(request);
		assertThat(response.getStatus()).isEqualTo(403);
		assertThat(JsonMapper.shared().readTree(response.getContentAsString()).get("detail").asString())
			.contains(reason);
	}

}
