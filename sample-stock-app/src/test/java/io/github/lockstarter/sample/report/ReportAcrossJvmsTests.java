// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.report;

import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.util.List;
import java.util.concurrent.Callable;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.lockstarter.sample.ShopClient;
import io.github.lockstarter.sample.ShopProcess;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Instances that write the same report on command and do not wait for each other.
 */
@FullProfileOnly
class ReportAcrossJvmsTests {

	private static ReportShops shops;

	@TempDir
	private static Path directory;

	@BeforeAll
	static void open() {
		shops = ReportShops.start(directory, "--shop.report.cron=-", "--shop.report.retry-delay=10s");
		shops.awaitOpen();
	}

	@AfterAll
	static void close() {
		shops.close();
	}

	@Test
	void oneWritesTheReportAndTheOthersSkipItAtOnceAndLater() throws Exception {
		LocalDate day = LocalDate.of(2026, 8, 1);
		List<ShopProcess> skipping;
		try (HeldDay held = new HeldDay(directory, day)) {
			shops.start(day);
			awaitUntil(() -> shops.skipped(day).size() == 2);
			skipping = shops.skipped(day);
		}
		awaitUntil(() -> shops.written(day).size() == 1);
		shops.start(day);
		awaitUntil(() -> shops.skipped(day).size() == 5);
		assertThat(shops.written(day)).hasSize(1).doesNotContainAnyElementsOf(skipping);
		assertThat(shops.failed(day)).isEmpty();
		assertThat(shops.all()).extracting((shop) -> ShopClient.of(shop.port()).get("/reports/" + day).statusCode())
			.containsOnly(200);
	}

	@Test
	void afterAFailureAnotherInstanceTakesOverAndTheRetryIsSkipped() throws Exception {
		LocalDate day = LocalDate.of(2026, 8, 2);
		letTheFirstFail(day);
		ShopProcess other = shops.skipped(day).get(0);
		shops.start(day, other);
		awaitUntil(() -> shops.skipped(day).size() == 3);
		assertThat(shops.written(day)).containsExactly(other);
		assertThat(shops.failed(day)).hasSize(1).doesNotContain(other);
	}

	@Test
	void afterAFailureTheRetryWritesTheReportIfNobodyElseDoes() throws Exception {
		LocalDate day = LocalDate.of(2026, 8, 3);
		letTheFirstFail(day);
		awaitUntil(() -> shops.written(day).size() == 1);
		assertThat(shops.written(day)).isEqualTo(shops.failed(day));
	}

	private static void letTheFirstFail(LocalDate day) throws Exception {
		try (HeldDay held = new HeldDay(directory, day)) {
			shops.start(day);
			awaitUntil(() -> shops.failed(day).size() == 1);
		}
		assertThat(shops.skipped(day)).hasSize(2);
	}

	private static void awaitUntil(Callable<Boolean> condition) {
		await().atMost(Duration.ofMinutes(1)).until(condition);
	}

}
