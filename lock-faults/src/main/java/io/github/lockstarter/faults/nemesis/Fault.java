// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.util.List;
import java.util.stream.Stream;

import io.github.lockstarter.faults.worker.Mode;

/**
 * A fault. The kinds of faults are enums, such as {@link WorkerFault}.
 */
public interface Fault {

	/**
	 * Return its name, which is unique among the faults of a site.
	 */
	String name();

	Nature nature();

	/**
	 * Return all faults.
	 */
	static List<Fault> all() {
		return Stream
			.<Fault[]>of(WorkerFault.values(), RedisFault.values(), NetworkFault.values(), RedisNodesFault.values(),
					IndependentFault.values(), ServerFault.values(), DatabaseFault.values(), EnsembleFault.values())
			.flatMap(Stream::of)
			.toList();
	}

	/**
	 * Return the faults that strike a kind of site.
	 */
	static List<Fault> at(SiteKind kind) {
		return all().stream().filter((fault) -> fault.nature().sites().contains(kind)).toList();
	}

	default String title() {
		return nature().title();
	}

	/**
	 * Return whether all instances can acquire locks all the time.
	 */
	default boolean leavesLocksAvailable() {
		return nature().leavesLocksAvailable();
	}

	default Mode mode() {
		return nature().mode();
	}

	default Exclusion exclusion() {
		return nature().exclusion();
	}

	/**
	 * Cause the fault, and repair it.
	 */
	default void strike(Attack attack) throws Exception {
		nature().strike().run(attack);
	}

}
