// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import java.net.http.HttpResponse;
import java.util.List;

import jakarta.persistence.EntityManagerFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.json.JsonAssert;
import org.springframework.test.json.JsonCompareMode;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.sample.AbstractShopTests;
import io.github.lockstarter.sample.ShopClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the exact responses of the HTTP API.
 */
class StockApiTests extends AbstractShopTests {

	private static final long PRODUCT = 1001;

	private ShopClient client;

	@BeforeEach
	void stock(@LocalServerPort int port) {
		this.client = ShopClient.of(port);
		this.client.setStock(PRODUCT, 5);
	}

	@Test
	void putSetsStockAndDeletesOrders() {
		this.client.deduct(PRODUCT, "count=2&strategy=none");
		assertAnswer(this.client.setStock(PRODUCT, "{\"count\":7}"), 200, """
				{"productId":1001,"initial":7,"remaining":7,"sold":0,"oversold":0}""");
	}

	@Test
	void putRefusesBadCount() {
		for (String body : List.of("{}", "{\"count\":-1}", "{\"count\":\"many\"}", "nonsense")) {
			assertProblem(this.client.setStock(PRODUCT, body), 400, null);
		}
		assertThat(this.client.stock(PRODUCT).get("initial").asInt()).isEqualTo(5);
	}

	@ParameterizedTest
	@ValueSource(strings = { "none", "synchronized", "distributed-lock", "distributed-lock-fenced",
			"distributed-lock-fenced-transaction", "distributed-lock-fair" })
	void deductionSellsWhatIsThere(String strategy) {
		assertAnswer(this.client.deduct(PRODUCT, "count=2&strategy=" + strategy), 200, """
				{"sold":true,"remaining":3}""");
		assertProblem(this.client.deduct(PRODUCT, "count=4&strategy=" + strategy), 409, "Product '1001' is sold out");
		assertAnswer(this.client.get("/stock/1001"), 200, """
				{"productId":1001,"initial":5,"remaining":3,"sold":2,"oversold":0}""");
		assertProblem(this.client.deduct(404, "strategy=" + strategy), 404, "Product '404' is unknown");
	}

	@Test
	void deductionRefusesBadCount() {
		for (String count : List.of("0", "-1", "many", "99999999999")) {
			assertProblem(this.client.deduct(PRODUCT, "strategy=none&count=" + count), 400, null);
		}
	}

	@Test
	void deductionRefusesUnknownStrategyAndNamesTheKnown() {
		HttpResponse<String> response = this.client.deduct(PRODUCT, "strategy=hope");
		assertProblem(response, 400, null);
		assertThat(response.body()).contains("'hope'", "distributed-lock", "none", "synchronized");
	}

	@Test
	void deductionOfWhatSomebodyElseIsSellingIsToBeTriedAgain(@Autowired LockRegistry locks) {
		try (Lease held = locks.acquire(LockRequest.of("lost-lease", PRODUCT))) {
			HttpResponse<String> response = this.client.deduct(PRODUCT, "strategy=lost-lease");
			assertTryAgain(response, "Busy", "Lock 'lost-lease:1001' did not become free within ");
			assertThat(response.body()).contains("; it is held by sample-stock-app@");
		}
		assertThat(this.client.stock(PRODUCT).get("remaining").asInt()).isEqualTo(5);
	}

	@Test
	void deductionDuringAnOutageIsToBeTriedAgainWithoutSayingWhatTheStoreAnswered() {
		HttpResponse<String> response = this.client.deduct(PRODUCT, "strategy=unavailable");
		assertTryAgain(response, "Lock unavailable", "Lock 'stock:1001' is unavailable");
		assertThat(response.body()).doesNotContain("10.0.0.7");
	}

	@Test
	void deductionThatLostTheLockDoesNotInviteToTryAgain() {
		HttpResponse<String> response = this.client.deduct(PRODUCT, "strategy=lost");
		assertProblem(response, 500, "was lost");
		assertThat(response.headers().firstValue("Retry-After")).isEmpty();
	}

	@Test
	void aDeductionByALateOwnerIsRefusedByTheDatabase(@Autowired JdbcClient jdbc) {
		jdbc.sql("update mall_stock set fence = ? where product_id = ?").params(Long.MAX_VALUE, PRODUCT).update();
		HttpResponse<String> response = this.client.deduct(PRODUCT, "strategy=distributed-lock-fenced");
		assertTryAgain(response, "Busy", "Product '1001' was sold by another owner in the meantime");
		assertThat(this.client.stock(PRODUCT).get("remaining").asInt()).isEqualTo(5);
		jdbc.sql("update mall_stock set fence = 0 where product_id = ?").param(PRODUCT).update();
	}

	@Test
	void aTransactionOfALateOwnerIsRefusedByTheDatabase(@Autowired JdbcClient jdbc) {
		String strategy = "strategy=distributed-lock-fenced-transaction";
		this.client.deduct(PRODUCT, strategy);
		assertThat(jdbc.sql("update distributed_lock_fence set token = ?").param(Long.MAX_VALUE).update()).isOne();
		HttpResponse<String> response = this.client.deduct(PRODUCT, strategy);
		assertProblem(response, 500, "a later owner has claimed the lock");
		assertThat(this.client.stock(PRODUCT).get("remaining").asInt()).isEqualTo(4);
		jdbc.sql("delete from distributed_lock_fence").update();
	}

	@Test
	void stockOfUnknownProductIsNotFound() {
		assertProblem(this.client.get("/stock/404"), 404, "Product '404' is unknown");
	}

	@Test
	void strategiesAreDescribed() {
		HttpResponse<String> response = this.client.get("/strategies");
		assertThat(response.statusCode()).isEqualTo(200);
		assertThat(response.body()).contains(
				"{\"name\":\"distributed-lock\",\"family\":\"distributed-lock\",\"description\":\"@DistributedLock",
				"\"expectation\":\"right\"}", "{\"name\":\"none\",", "{\"name\":\"synchronized\",");
	}

	@Test
	void profilesAddStrategiesAndWhatTheyNeed(@Autowired ListableBeanFactory beans, @Autowired JdbcClient jdbc) {
		assertThat(this.client.get("/strategies").body()).doesNotContain("\"redisson\"", "\"distributed-lock-redis\"",
				"\"jpa-");
		assertThat(beans.getBeanNamesForType(EntityManagerFactory.class)).isEmpty();
		assertThat(jdbc.sql("select count(*) from information_schema.tables where table_name = 'DISTRIBUTED_LOCK'")
			.query(Integer.class)
			.single()).isZero();
	}

	@Test
	void reportNamesOversoldAndLostUnits() {
		assertThat(StockReport.of(1, 5, 0, 5, 0).lost()).isNull();
		assertThat(StockReport.of(1, 5, 0, 7, 0)).isEqualTo(new StockReport(1, 5, 0, 7, 2, -2L, null));
		assertThat(StockReport.of(1, 5, 4, 3, 0)).isEqualTo(new StockReport(1, 5, 4, 3, 0, -2L, null));
	}

	@Test
	void reportNamesFailedAttemptsUntilTheStockIsSet(@Autowired JdbcClient jdbc) {
		jdbc.sql("update failed_attempts set attempts = 3 where product_id = ?").param(PRODUCT).update();
		assertAnswer(this.client.get("/stock/1001"), 200, """
				{"productId":1001,"initial":5,"remaining":5,"sold":0,"oversold":0,"failedAttempts":3}""");
		this.client.setStock(PRODUCT, 5);
		assertAnswer(this.client.get("/stock/1001"), 200, """
				{"productId":1001,"initial":5,"remaining":5,"sold":0,"oversold":0}""");
	}

	private static void assertAnswer(HttpResponse<String> response, int status, String body) {
		assertThat(response.statusCode()).isEqualTo(status);
		JsonAssert.comparator(JsonCompareMode.STRICT).assertIsMatch(body, response.body());
	}

	private static void assertProblem(HttpResponse<String> response, int status, String detail) {
		assertThat(response.statusCode()).isEqualTo(status);
		assertThat(response.headers().firstValue("Content-Type")).hasValue("application/problem+json");
		assertThat(response.body()).contains("\"status\":" + status, (detail != null) ? detail : "\"detail\":");
	}

	private static void assertTryAgain(HttpResponse<String> response, String title, String detail) {
		assertProblem(response, 503, detail);
		assertThat(response.headers().firstValue("Retry-After")).hasValue("1");
		assertThat(response.body()).contains("\"title\":\"" + title + "\"");
	}

}
