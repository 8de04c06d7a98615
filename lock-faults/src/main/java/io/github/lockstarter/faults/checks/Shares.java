// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.checks;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.lockstarter.faults.history.Attempt;
import io.github.lockstarter.faults.history.History;

/**
 * Checks whether all instances were granted locks about equally often.
 */
public final class Shares {

	private Shares() {
	}

	/**
	 * Return the instances that got too few grants.
	 * @param instances all of them
	 * @param least fraction of an even share that each instance must get
	 */
	public static List<Violation> check(History history, Collection<String> instances, double least) {
		Map<String, Long> grants = history.holds()
			.stream()
			.filter((attempt) -> !attempt.isNested())
			.collect(Collectors.groupingBy(Attempt::process, Collectors.counting()));
		double even = (double) grants.values().stream().mapToLong(Long::longValue).sum() / instances.size();
		return instances.stream()
			.collect(Collectors.toMap(Function.identity(), (instance) -> grants.getOrDefault(instance, 0L)))
			.entrySet()
			.stream()
			.filter((entry) -> entry.getValue() < least * even)
			.map((entry) -> new Violation("fairness",
					"%s got %d of the grants %s".formatted(entry.getKey(), entry.getValue(), grants), List.of()))
			.toList();
	}

}
