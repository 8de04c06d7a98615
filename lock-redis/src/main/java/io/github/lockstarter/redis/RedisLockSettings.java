// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;

import io.github.lockstarter.store.Rule;

/**
 * The settings of a {@link RedisLockStore}.
 *
 * @param prefix the beginning of every key; see {@link Rule#KEY_PREFIX}
 * @param fenceRetention how long the last fencing token of an idle lock is remembered;
 * must be longer than any lease
 * @param awaitRelease whether a release always waits for its answer, also with Lettuce
 * @param minReplicaAcks how many replicas must confirm a grant before it counts; 0 for
 * none
 * @param replicaAckTimeout how long to wait for the replicas
 */
public record RedisLockSettings(String prefix, Duration fenceRetention, boolean awaitRelease, int minReplicaAcks,
		Duration replicaAckTimeout) {

	/**
	 * Defaults that suit most applications.
	 */
	public static final RedisLockSettings DEFAULTS = new RedisLockSettings("lock:", Duration.ofHours(24), false, 0,
			Duration.ofMillis(500));

	boolean awaitsReplicas() {
		return this.minReplicaAcks > 0;
	}

}
