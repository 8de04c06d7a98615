// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.lab;

import java.net.InetAddress;
import java.net.URI;
import java.util.Arrays;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
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
		LabAccess access = new LabAccess(InetAddress.getByName("0.0.0.0"));
		HandlerMethod handler = new HandlerMethod(lab, LabController.class.getDeclaredMethod("lab"));
		assertThatExceptionOfType(ResponseStatusException.class)
			.isThrownBy(() -> access.preHandle(new MockHttpServletRequest(), new MockHttpServletResponse(), handler))
			.withMessageContaining("The lab is closed");
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
	void noOtherPageIsObeyed() throws Exception {
		for (String site : new String[] { "cross-site", "same-site" }) {
			for (MockHttpServletRequestBuilder request : all()) {
				assertRefused(request.header(LabAccess.TOKEN_HEADER, this.token).header("Sec-Fetch-Site", site),
						"only its own page");
			}
		}
		for (String site : new String[] { "same-origin", "none" }) {
			assertThat(send(get().header("Sec-Fetch-Site", site)).getStatus()).isEqualTo(200);
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
		assertThat(reason("'none','hope'", "1", "1", "1")).isEqualTo("This shop does not have the strategy hope");
		assertThat(reason("", "1", "1", "1")).isEqualTo("Choose 1 to 12 strategies, not 0");
		assertThat(reason("'none'", "5", "1", "1")).isEqualTo("Choose 1 to 4 instances, not 5");
		assertThat(reason("'none'", "1", "0", "1")).isEqualTo("Choose 1 to 200 users, not 0");
		assertThat(reason("'none'", "1", "1", "2001")).isEqualTo("Choose 1 to 2000 pieces, not 2001");
		assertThat(reason("'none'", "1", "1", "'many'")).isNotEmpty();
		assertThat(reason("null", "1", "1", "1")).isNotEmpty();
	}

	private String reason(String strategies, String instances, String users, String stock) throws Exception {
		MockHttpServletResponse response = send(
				request(HttpMethod.POST, "/runs").header(LabAccess.TOKEN_HEADER, this.token)
					.contentType(MediaType.APPLICATION_JSON)
					.content("{'strategies':[%s],'instances':%s,'users':%s,'stock':%s}"
						.formatted(strategies, instances, users, stock)
						.replace('\'', '"')));
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
				request(HttpMethod.POST, "/instances/1/pause"), request(HttpMethod.POST, "/instances/1/kill") };
	}

	private static MockHttpServletRequestBuilder[] all() {
		MockHttpServletRequestBuilder[] all = Arrays.copyOf(changing(), 6);
		all[5] = get();
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
