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
	 * Return one line that says what happens.
	 */
	String title();

	/**
	 * Return the metric that decides, which comes first in reports.
	 */
	Metric headline();

	/**
	 * Return the name of the competitor that others are compared with.
	 */
	default String reference() {
		return Competitors.REDISSON;
	}

	/**
	 * Return whether it makes sense for a competitor.
	 */
	boolean suits(Competitor competitor);

	/**
	 * Measure once.
	 * @param competitor the lock
	 * @param redis the server, freshly reset
	 * @param time how long to measure, where the scenario does not say itself
	 */
	Map<Metric, Double> measure(Competitor competitor, BenchmarkRedis redis, Duration time) throws Exception;

}
