// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

import io.github.lockstarter.benchmarks.servers.ServerAddress;
import io.github.lockstarter.benchmarks.servers.ServerKind;

/**
 * A lock implementation that is compared with others.
 */
public interface Competitor {

	/**
	 * Return the name in reports and options.
	 */
	String name();

	/**
	 * Connect like one instance of an application.
	 * @param server one of {@link #servers()}
	 * @param leaseMillis length of a lease that is renewed, if it can be configured
	 */
	LockClient connect(ServerAddress server, long leaseMillis);

	/**
	 * Return the kinds of servers on which it works.
	 */
	default Set<ServerKind> servers() {
		return Set.of(ServerKind.REDIS);
	}

	/**
	 * Return the abilities that scenarios may need.
	 */
	Set<Ability> abilities();

	/**
	 * Return how many commands clients have sent for locks.
	 * @param calls calls by command, including those of scripts
	 * @param acquisitions the number of locks that were acquired and released
	 */
	default long clientCommands(Map<String, Long> calls, long acquisitions) {
		return Set.of("evalsha", "eval", "subscribe", "unsubscribe", "psubscribe", "punsubscribe")
			.stream()
			.mapToLong((command) -> calls.getOrDefault(command, 0L))
			.sum();
	}

	/**
	 * Abilities that scenarios need.
	 */
	enum Ability {

		/** Excludes other processes. */
		DISTRIBUTED,

		/**
		 * Is notified of a release, or retries fast enough to be measured under
		 * contention.
		 */
		CONTENDED,

		/** Renews leases in the background. */
		RENEWED,

		/** Supports many waiters without a separate thread for each attempt. */
		MANY_WAITERS,

		/** Is a transaction, which a lock may protect. */
		SELLS;

		/**
		 * Return all abilities that locks may have.
		 */
		static Set<Ability> ofLocks() {
			return EnumSet.complementOf(EnumSet.of(SELLS));
		}

	}

}
