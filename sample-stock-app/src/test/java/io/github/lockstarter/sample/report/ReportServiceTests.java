// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.report;

import java.net.http.HttpResponse;
import java.time.LocalDate;
import java.util.List;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.config.ScheduledTaskHolder;

import io.github.lockstarter.sample.AbstractShopTests;
import io.github.lockstarter.sample.ShopClient;
import io.github.lockstarter.sample.ShopProbes.Events;
import io.github.lockstarter.sample.ShopProbes.Retries;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The report of a day in one instance.
 */
class ReportServiceTests extends AbstractShopTests {

	private static final LocalDate DAY = LocalDate.of(2026, 8, 23);

	private static final String LOCK = "lock:{daily-report:2026-08-23}";

	@Autowired
	private ReportService service;

	@Autowired
	private JdbcClient jdbc;

	@Autowired
	private StringRedisTemplate redis;

	@Autowired
	private Events events;

	private ShopClient client;

	@BeforeEach
	void sales(@LocalServerPort int port) {
		this.jdbc.sql("delete from daily_report").update();
		loseTheDataOfRedis();
		this.client = ShopClient.of(port);
		this.client.setStock(1001, 5);
		this.client.deduct(1001, "count=2");
		this.client.deduct(1001, "count=1");
		this.events.list().clear();
	}

	@Test
	void theReportSumsUpTheBooksAndItsLockIsKept() {
		assertThat(this.service.write(DAY)).contains(new DailyReport(DAY, 2, 3));
		assertThat(this.redis.getExpire(LOCK)).isBetween(11 * 3600L, 12 * 3600L);
		this.jdbc.sql("delete from daily_report").update();
		assertThat(this.service.write(DAY)).as("without a look at the table").isEmpty();
		assertThat(steps()).containsExactly("Acquired", "Kept", "Contended");
		assertThat(this.service.write(DAY.plusDays(1))).isPresent();
	}

	@Test
	void aReportThatIsThereIsNotWrittenAgainThoughRedisLostItsData(@Autowired ReportRepository repository) {
		this.service.write(DAY);
		this.client.deduct(1001, "count=1");
		loseTheDataOfRedis();
		assertThat(this.service.write(DAY)).isEmpty();
		assertThat(this.jdbc.sql("select sold from daily_report").query(Long.class).single()).isEqualTo(3);
		assertThat(steps()).containsExactly("Acquired", "Kept", "Acquired", "Kept");
		assertThatExceptionOfType(DuplicateKeyException.class).as("of an owner that lost the lock")
			.isThrownBy(() -> repository.insert(DAY));
	}

	@Test
	void eachTryTakesTheLockAnewAndFreesItWhenItFails(@Autowired Retries retries) {
		Refusal refusal = new Refusal(this.jdbc);
		retries.between(() -> {
			await().until(() -> !this.redis.hasKey(LOCK));
			refusal.close();
		});
		try {
			assertThat(this.service.write(DAY)).isPresent();
		}
		finally {
			retries.between(() -> {
			});
		}
		assertThat(steps()).containsExactly("Acquired", "Released", "Acquired", "Kept");
	}

	@Test
	void afterThreeRetriesTheFailureIsThrownAndTheLockIsFree() {
		try (Refusal refusal = new Refusal(this.jdbc)) {
			assertThatExceptionOfType(DataIntegrityViolationException.class).isThrownBy(() -> this.service.write(DAY));
		}
		assertThat(steps()).containsExactly("Acquired", "Released", "Acquired", "Released", "Acquired", "Released",
				"Acquired", "Released");
		assertThat(this.service.write(DAY)).isPresent();
	}

	@Test
	void theClockStartsTheReportOfTheDayBefore(@Autowired ScheduledTaskHolder clock) {
		assertThat(clock.getScheduledTasks())
			.filteredOn((scheduled) -> scheduled.toString().startsWith(NightlyReport.class.getName()))
			.singleElement()
			.satisfies((scheduled) -> scheduled.getTask().getRunnable().run());
		assertThat(this.jdbc.sql("select report_day from daily_report").query(LocalDate.class).single()).isEqualTo(DAY);
	}

	@Test
	void postStartsTheJobAndGetShowsTheReport() {
		assertProblem(this.client.get("/reports/2026-08-23"), 404, "There is no report of 2026-08-23");
		assertThat(this.client.report("2026-08-23").statusCode()).isEqualTo(202);
		await().untilAsserted(() -> assertThat(this.client.get("/reports/2026-08-23").body())
			.isEqualTo("{\"day\":\"2026-08-23\",\"orders\":2,\"sold\":3}"));
		await().until(() -> steps().contains("Kept"));
		assertProblem(this.client.report("2026-02-30"), 400, "day");
		assertProblem(this.client.get("/reports/yesterday"), 400, "day");
	}

	private static void assertProblem(HttpResponse<String> response, int status, String detail) {
		assertThat(response.statusCode()).isEqualTo(status);
		assertThat(response.headers().firstValue("Content-Type")).hasValue("application/problem+json");
		assertThat(response.body()).contains(detail);
	}

	private List<String> steps() {
		return this.events.list().stream().map((event) -> event.getClass().getSimpleName()).toList();
	}

	private void loseTheDataOfRedis() {
		try (RedisConnection connection = this.redis.getRequiredConnectionFactory().getConnection()) {
			connection.serverCommands().flushDb();
		}
	}

	/**
	 * A table that refuses every new report.
	 */
	private record Refusal(JdbcClient jdbc) implements AutoCloseable {

		Refusal {
			jdbc.sql("alter table daily_report add constraint refused check (orders < 0)").update();
		}

		@Override
		public void close() {
			this.jdbc.sql("alter table daily_report drop constraint refused").update();
		}

	}

}
