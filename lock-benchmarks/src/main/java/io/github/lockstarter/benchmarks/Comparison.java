// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks;

import java.util.List;

import io.github.lockstarter.benchmarks.locks.Competitor;
import io.github.lockstarter.benchmarks.locks.Competitors;
import io.github.lockstarter.benchmarks.scenarios.Metric;
import io.github.lockstarter.benchmarks.scenarios.Scenario;
import io.github.lockstarter.benchmarks.servers.ServerKind;

/**
 * A scenario on a kind of server: one table of the report.
 *
 * @param scenario the scenario
 * @param server the kind of server
 */
record Comparison(Scenario scenario, ServerKind server) {

	/**
	 * Return the name in the report; on Redis, it is that of the scenario.
	 */
	String name() {
		return isOnRedis() ? this.scenario.name() : this.scenario.name() + "-" + this.server.label();
	}

	String title() {
		return isOnRedis() ? this.scenario.title() : this.scenario.title() + " (" + this.server.title() + ")";
	}

	/**
	 * Return the name of the competitor with which others are compared.
	 */
	String reference() {
		if (isOnRedis() || !this.scenario.comparesLocks()) {
			return this.scenario.reference();
		}
		Competitor peer = Competitors.named(Competitors.peerOn(this.server));
		return this.scenario.suits(peer) ? peer.name() : Competitors.ROW_LOCK;
	}

	Metric headline() {
		return this.scenario.headline();
	}

	/**
	 * Return those of some competitors for which the comparison makes sense.
	 */
	List<Competitor> suited(List<Competitor> competitors) {
		if (!this.scenario.suits(this.server)) {
			return List.of();
		}
		return competitors.stream()
			.filter((competitor) -> competitor.servers().contains(this.server) && this.scenario.suits(competitor))
			.toList();
	}

	private boolean isOnRedis() {
		return this.server == ServerKind.REDIS;
	}

}
