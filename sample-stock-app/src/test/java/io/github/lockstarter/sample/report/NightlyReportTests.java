// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.report;

import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.lockstarter.sample.ShopProcess;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The job with its configuration: started by the scheduler of three JVMs, or with
 * instances that wait for the one that runs.
 */
@FullProfileOnly
class NightlyReportTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	@TempDir
	private Path directory;

	@Test
	void startedByTheClockOfAllInstancesItRunsInOne() {
		try (ReportShops shops = ReportShops.start(this.directory, "--shop.report.cron=* * * * * *",
				"--shop.report.retry-delay=2s")) {
			shops.awaitOpen();
			LocalDate yesterday = LocalDate.now(ZoneOffset.UTC).minusDays(1);
			// Only a try before the shops are connected may fail
			List<ShopProcess> tooEarly = shops.failed(yesterday);
			await().atMost(PATIENCE).until(() -> shops.skipped(yesterday).containsAll(shops.all()));
			assertThat(shops.written(yesterday)).hasSize(1);
			assertThat(shops.failed(yesterday)).isEqualTo(tooEarly);
		}
	}

	@Test
	void aWaiterTakesOverFromTheOneThatFails() throws Exception {
		LocalDate day = LocalDate.of(2026, 8, 1);
		try (ReportShops shops = ReportShops.start(this.directory, "--shop.report.cron=-",
				"--shop.report.wait-time=15s", "--shop.report.retry-delay=2s")) {
			shops.awaitOpen();
			try (HeldDay held = new HeldDay(this.directory, day)) {
				shops.start(day);
				await().atMost(PATIENCE).until(() -> shops.failed(day).size() == 1);
				assertThat(shops.skipped(day)).isEmpty();
			}
			await().atMost(PATIENCE).until(() -> shops.skipped(day).size() == 2);
			assertThat(shops.written(day)).hasSize(1).doesNotContainAnyElementsOf(shops.failed(day));
			assertThat(shops.failed(day)).hasSize(1);
		}
	}

}
