// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.report;

import java.time.LocalDate;

/**
 * The sales of the shop at the end of a day.
 *
 * @param day the day
 * @param orders the number of orders
 * @param sold the number of ordered units
 */
public record DailyReport(LocalDate day, long orders, long sold) {
}
