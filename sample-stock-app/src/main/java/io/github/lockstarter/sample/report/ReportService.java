// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.report;

import java.time.LocalDate;
import java.util.Optional;

import org.springframework.resilience.annotation.Retryable;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.OnContention;

/**
 * Writes the report of a day once, even if many instances start the job.
 */
@Service
public class ReportService {

	private final ReportRepository reports;

	ReportService(ReportRepository reports) {
		this.reports = reports;
	}

	/**
	 * Each retry acquires the lock again, so any instance may do the work between
	 * retries. The lock only saves work: if Redis loses it, the table already contains
	 * the report.
	 * @param day the day
	 * @return the report, or empty if another instance writes or has written it
	 */
	@Retryable(maxRetries = 3, delayString = "${shop.report.retry-delay:10m}")
	@DistributedLock(name = "daily-report", key = "#day", waitTime = "${shop.report.wait-time:0s}",
			onContention = OnContention.SKIP, holdAtLeast = "${shop.report.hold-at-least:12h}")
	@Transactional
	public Optional<DailyReport> write(LocalDate day) {
		if (this.reports.find(day).isPresent()) {
			return Optional.empty();
		}
		this.reports.insert(day);
		return this.reports.find(day);
	}

}
