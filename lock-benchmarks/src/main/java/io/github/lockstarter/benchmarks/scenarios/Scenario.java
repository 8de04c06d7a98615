// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.scenarios;

import java.time.Duration;
import java.util.Map;

import io.github.lockstarter.benchmarks.locks.Competitor;
import io.github.lockstarter.benchmarks.locks.Competitors;

/**
 * A situation in which locks are compared.
 */
public interface Scenario {

	/**
	 * Return the name in options and file names.
	 */
	String name();

	/**
	 * Return a one-line description.
	 */
	String title();

	/**
	 * Return the most important metric, which comes first in reports.
	 */
	Metric headline();

	/**
	 * Return the name of the competitor with which others are compared.
	 */
	default String reference() {
		return Competitors.REDISSON;
	}

	/**
	 * Return whether the scenario makes sense for a competitor.
	 */
	boolean suits(Competitor competitor);

	/**
	 * Run one measurement.
	 * @param competitor the lock
	 * @param redis the server, which has just been reset
	 * @param time the duration of the measurement, unless the scenario has its own
	 */
	Map<Metric, Double> measure(Competitor competitor, BenchmarkRedis redis, Duration time) throws Exception;

}
