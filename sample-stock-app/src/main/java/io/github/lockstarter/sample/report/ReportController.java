// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.report;

import java.time.LocalDate;
import java.util.concurrent.Executor;

import org.springframework.format.annotation.DateTimeFormat;
import org.springframework.format.annotation.DateTimeFormat.ISO;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * The reports, and the job that writes them.
 */
@RestController
@RequestMapping("/api/reports/{day}")
class ReportController {

	private final ReportRepository reports;

	private final NightlyReport job;

	private final Executor executor;

	ReportController(ReportRepository reports, NightlyReport job, Executor applicationTaskExecutor) {
		this.reports = reports;
		this.job = job;
		this.executor = applicationTaskExecutor;
	}

	@GetMapping
	DailyReport report(@PathVariable @DateTimeFormat(iso = ISO.DATE) LocalDate day) {
		return this.reports.find(day)
			.orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND, "There is no report of " + day));
	}

	/**
	 * Start the job without waiting for it, because its retries may take half an hour.
	 */
	@PostMapping
	@ResponseStatus(HttpStatus.ACCEPTED)
	void start(@PathVariable @DateTimeFormat(iso = ISO.DATE) LocalDate day) {
		this.executor.execute(() -> this.job.run(day));
	}

}
