// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.util.Map;
import java.util.Set;

/**
 * A kind of lock that is compared with others.
 */
public interface Competitor {

	/**
	 * Return the name in reports and options.
	 */
	String name();

	/**
	 * Connect as one instance of an application does.
	 * @param port of the Redis server on the loopback address
	 * @param leaseMillis length of a lease that is renewed, where that can be chosen
	 */
	LockClient connect(int port, long leaseMillis);

	/**
	 * Return what it is able to do.
	 */
	Set<Ability> abilities();

	/**
	 * Return how many commands clients have sent, as far as they were for locks.
	 * @param calls calls by command, those of scripts included
	 * @param acquisitions how many locks were taken and given back
	 */
	default long clientCommands(Map<String, Long> calls, long acquisitions) {
		return Set.of("evalsha", "eval", "subscribe", "unsubscribe", "psubscribe", "punsubscribe")
			.stream()
			.mapToLong((command) -> calls.getOrDefault(command, 0L))
			.sum();
	}

	/**
	 * What scenarios need.
	 */
	enum Ability {

		/** Excludes other processes. */
		DISTRIBUTED,

		/**
		 * Is told of a release or retries so fast that it can be measured in a contest.
		 */
		CONTENDED,

		/** Renews leases in the background. */
		RENEWED,

		/** Lets many wait without a thread of its own for each attempt. */
		MANY_WAITERS

	}

}
