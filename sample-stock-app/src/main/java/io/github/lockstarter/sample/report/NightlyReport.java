// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.report;

import java.time.Clock;
import java.time.LocalDate;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.context.event.EventListener;
import org.springframework.resilience.retry.MethodRetryEvent;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Calls the {@link ReportService} every night to write the report of the previous day. It
 * is a separate bean, because a call within a bean would bypass the lock and the retries.
 */
@Component
class NightlyReport {

	private static final Log logger = LogFactory.getLog(NightlyReport.class);

	private final ReportService reports;

	private final Clock clock;

	NightlyReport(ReportService reports, Clock clock) {
		this.reports = reports;
		this.clock = clock;
	}

	@Scheduled(cron = "${shop.report.cron:0 0 3 * * *}", zone = "UTC")
	void run() {
		run(LocalDate.now(this.clock).minusDays(1));
	}

	void run(LocalDate day) {
		this.reports.write(day)
			.ifPresentOrElse((report) -> logger.info("Wrote " + report),
					() -> logger.info("Another instance writes or wrote the report of " + day));
	}

	@EventListener(condition = "!#event.retryAborted")
	void failed(MethodRetryEvent event) {
		if (event.getMethod().getDeclaringClass() == ReportService.class) {
			logger.warn("Could not write the report of " + event.getSource().getArguments()[0], event.getFailure());
		}
	}

}
