// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.scenarios;

import java.time.Duration;
import java.util.Map;

import io.github.lockstarter.benchmarks.locks.Competitor;
import io.github.lockstarter.benchmarks.locks.Competitors;
import io.github.lockstarter.benchmarks.servers.BenchmarkServer;
import io.github.lockstarter.benchmarks.servers.ServerKind;

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
	 * Return the name of the competitor with which others are compared on Redis.
	 */
	default String reference() {
		return Competitors.REDISSON;
	}

	/**
	 * Return whether the competitors are locks, of which each kind of server has its own
	 * peers.
	 */
	default boolean comparesLocks() {
		return true;
	}

	/**
	 * Return whether the scenario makes sense for a competitor.
	 */
	boolean suits(Competitor competitor);

	/**
	 * Return whether the scenario can be measured on a kind of server.
	 */
	default boolean suits(ServerKind server) {
		return true;
	}

	/**
	 * Run one measurement.
	 * @param competitor the lock
	 * @param server the server, on which no lock was acquired before
	 * @param time the duration of the measurement, unless the scenario has its own
	 */
	Map<Metric, Double> measure(Competitor competitor, BenchmarkServer server, Duration time) throws Exception;

}
