// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.report;

import java.time.LocalDate;

/**
 * What the shop had sold when a day was closed.
 *
 * @param day the day
 * @param orders how many orders were in the books
 * @param sold how many units were ordered
 */
public record DailyReport(LocalDate day, long orders, long sold) {
}
