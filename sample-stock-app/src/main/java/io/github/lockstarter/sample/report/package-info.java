// SPDX-License-Identifier: Apache-2.0

/**
 * The nightly report, a job that all instances start and one instance runs. Start reading
 * at {@link io.github.lockstarter.sample.report.ReportService}.
 */
@NullMarked
package io.github.lockstarter.sample.report;

import org.jspecify.annotations.NullMarked;
