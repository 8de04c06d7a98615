// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.report;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.lockstarter.sample.ShopClient;
import io.github.lockstarter.sample.ShopProcess;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Three JVMs that write the same report, started by their clocks or on command. Which of
 * them did what is in their logs.
 */
@Tag("clock")
@FullProfileOnly
class NightlyReportTests {

	@TempDir
	private Path directory;

	private List<ShopProcess> shops = List.of();

	/**
	 * Start the shops. An attempt fails if another transaction blocks its day for eight
	 * seconds, which is time enough for the others to skip it.
	 */
	private void open(String... settings) {
		String[] arguments = Stream
			.concat(Stream.of("--spring.datasource.hikari.connection-init-sql=set lock_timeout 8000"),
					Stream.of(settings))
			.toArray(String[]::new);
		this.shops = Stream.generate(() -> ShopProcess.start(this.directory, arguments)).limit(3).toList();
		this.shops.forEach((shop) -> ShopClient.of(shop.awaitOpen().port()).awaitLocks());
	}

	@AfterEach
	void close() {
		this.shops.forEach(ShopProcess::close);
	}

	@Test
	void startedByTheClocksOfAllInstancesItRunsInOne() {
		open("--shop.report.cron=* * * * * *", "--shop.report.retry-delay=2s");
		LocalDate yesterday = LocalDate.now(ZoneOffset.UTC).minusDays(1);
		// Only a try before the shops are connected may fail
		List<ShopProcess> tooEarly = failed(yesterday);
		awaitUntil(() -> skipped(yesterday).containsAll(this.shops));
		assertThat(written(yesterday)).hasSize(1);
		assertThat(failed(yesterday)).isEqualTo(tooEarly);
	}

	@Test
	void oneWritesTheReportTheOthersSkipItAndAfterAFailureTheNextOneWrites() throws Exception {
		open("--shop.report.cron=-", "--shop.report.retry-delay=10s");
		LocalDate day = LocalDate.of(2026, 8, 1);
		try (Connection held = hold(day)) {
			write(day, this.shops);
			awaitUntil(() -> skipped(day).size() == 2);
		}
		awaitUntil(() -> written(day).size() == 1);
		write(day, this.shops);
		awaitUntil(() -> skipped(day).size() == 5);
		assertThat(written(day)).hasSize(1);
		assertThat(failed(day)).isEmpty();
		afterAFailureAnotherInstanceTakesOverAndTheRetryIsSkipped(day.plusDays(1));
		afterAFailureTheRetryWritesTheReportIfNobodyElseDoes(day.plusDays(2));
	}

	private void afterAFailureAnotherInstanceTakesOverAndTheRetryIsSkipped(LocalDate day) throws Exception {
		letTheFirstFail(day);
		ShopProcess other = skipped(day).get(0);
		write(day, List.of(other));
		awaitUntil(() -> skipped(day).size() == 3);
		assertThat(written(day)).containsExactly(other);
		assertThat(failed(day)).hasSize(1).doesNotContain(other);
	}

	private void afterAFailureTheRetryWritesTheReportIfNobodyElseDoes(LocalDate day) throws Exception {
		letTheFirstFail(day);
		awaitUntil(() -> written(day).size() == 1);
		assertThat(written(day)).isEqualTo(failed(day));
	}

	private void letTheFirstFail(LocalDate day) throws Exception {
		try (Connection held = hold(day)) {
			write(day, this.shops);
			awaitUntil(() -> failed(day).size() == 1);
		}
		assertThat(skipped(day)).hasSize(2);
	}

	/**
	 * Insert the report of a day in a transaction that neither commits nor rolls back
	 * before the connection is closed. Another insert waits for it.
	 */
	private Connection hold(LocalDate day) throws Exception {
		Connection connection = DriverManager.getConnection(ShopProcess.databaseUrl(this.directory), "sa", "");
		connection.setAutoCommit(false);
		try (PreparedStatement insert = connection.prepareStatement("insert into daily_report values (?, 0, 0)")) {
			insert.setObject(1, day);
			insert.executeUpdate();
		}
		return connection;
	}

	/**
	 * Let instances write the report of a day at the same moment.
	 */
	private static void write(LocalDate day, List<ShopProcess> shops) {
		shops.stream()
			.map((shop) -> CompletableFuture.supplyAsync(() -> ShopClient.of(shop.port()).report(day).statusCode(),
					(task) -> new Thread(task).start()))
			.toList()
			.forEach((status) -> assertThat(status.join()).isEqualTo(202));
	}

	private List<ShopProcess> written(LocalDate day) {
		List<ShopProcess> writers = saying("Wrote DailyReport[day=" + day);
		SafetyViolation.check(writers.size() <= 1, "%s instances wrote the report of %s", writers.size(), day);
		return writers;
	}

	private List<ShopProcess> skipped(LocalDate day) {
		return saying("Another instance writes or wrote the report of " + day);
	}

	private List<ShopProcess> failed(LocalDate day) {
		return saying("Could not write the report of " + day);
	}

	/**
	 * Return the shops that log a message, each as often as it logs it.
	 */
	private List<ShopProcess> saying(String message) {
		return this.shops.stream()
			.flatMap((shop) -> shop.log().lines().filter((line) -> line.contains(message)).map((line) -> shop))
			.toList();
	}

	private static void awaitUntil(Callable<Boolean> condition) {
		await().atMost(Duration.ofMinutes(1)).until(condition);
	}

}
