// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.report;

import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Instances that are told to write the same report and wait for the one that does.
 */
class ReportAcrossWaitingJvmsTests {

	private static final LocalDate DAY = LocalDate.of(2026, 8, 1);

	@TempDir
	private Path directory;

	@Test
	void oneOfThoseWhoWaitTakesOverFromTheOneThatFails() throws Exception {
		try (ReportShops shops = new ReportShops(this.directory, "--shop.report.wait-time=10s",
				"--shop.report.retry-delay=2s")) {
			try (HeldDay held = new HeldDay(this.directory, DAY)) {
				shops.start(DAY);
				await().atMost(Duration.ofSeconds(30)).until(() -> shops.failed(DAY).size() == 1);
				assertThat(shops.skipped(DAY)).isEmpty();
			}
			await().atMost(Duration.ofSeconds(30)).until(() -> shops.skipped(DAY).size() == 2);
			assertThat(shops.written(DAY)).hasSize(1).doesNotContainAnyElementsOf(shops.failed(DAY));
			assertThat(shops.failed(DAY)).hasSize(1);
		}
	}

}
