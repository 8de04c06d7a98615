// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;

/**
 * How locks are kept in Redis.
 *
 * @param prefix start of every key, see {@link RedisLockKeys#isValidPrefix}
 * @param fenceRetention how long the last fencing token of an idle lock is remembered;
 * must be longer than any lease
 * @param awaitRelease whether a release waits for its answer where it need not
 * @param minReplicaAcks how many replicas must have confirmed a grant before it counts; 0
 * does not ask them
 * @param replicaAckTimeout how long to wait for them
 */
public record RedisLockSettings(String prefix, Duration fenceRetention, boolean awaitRelease, int minReplicaAcks,
		Duration replicaAckTimeout) {

	/**
	 * What is good for most.
	 */
	public static final RedisLockSettings DEFAULTS = new RedisLockSettings("lock:", Duration.ofHours(24), false, 0,
			Duration.ofMillis(500));

	boolean awaitsReplicas() {
		return this.minReplicaAcks > 0;
	}

}
