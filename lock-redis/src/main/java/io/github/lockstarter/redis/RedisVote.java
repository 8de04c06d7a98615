// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import io.github.lockstarter.store.OwnerToken;

/**
 * The vote of one independent server on a request for a lock.
 *
 * @param run the run of the server that has voted
 * @param granted whether the owner that asked holds the lock on this server
 * @param number the fencing base of a grant; otherwise the remaining milliseconds of the
 * other lease, or -1 if it never ends
 * @param holder the owner that holds the lock instead; of no meaning for a grant
 */
public record RedisVote(Run run, boolean granted, long number, OwnerToken holder) {

	/**
	 * One run of a server, from its start to its end.
	 *
	 * @param address the server
	 * @param id random identity of the run
	 * @param uptime how long it has lasted, in whole seconds
	 */
	public record Run(String address, String id, long uptime) {

	}

}
