// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.report;

import java.time.LocalDate;
import java.util.Optional;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * The table {@code daily_report}, with one row per day.
 */
@Repository
class ReportRepository {

	private final JdbcClient jdbc;

	ReportRepository(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	Optional<DailyReport> find(LocalDate day) {
		return this.jdbc.sql("select report_day, orders, sold from daily_report where report_day = ?")
			.param(day)
			.query((row, number) -> new DailyReport(row.getObject("report_day", LocalDate.class), row.getLong("orders"),
					row.getLong("sold")))
			.optional();
	}

	void insert(LocalDate day) {
		this.jdbc.sql("""
				insert into daily_report (report_day, orders, sold)
				select cast(? as date), count(*), coalesce(sum(o.count), 0) from orders o""").param(day).update();
	}

}
