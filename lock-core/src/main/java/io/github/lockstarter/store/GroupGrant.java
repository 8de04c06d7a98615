// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletionStage;

import io.github.lockstarter.LockKey;

/**
 * Grants several locks in one atomic step, for a {@link LockStore} that can do that.
 */
public interface GroupGrant {

	/**
	 * Return whether these locks can be granted together, for example because one server
	 * keeps all of them.
	 * @param keys the locks
	 */
	boolean isPossibleFor(Collection<LockKey> keys);

	/**
	 * Grant exclusive locks to their owners: all of them, or none.
	 * @param requests a request for each of the locks
	 * @return the grants in the same order; empty if another owner holds one of the
	 * locks, or stands before this one in its line
	 */
	CompletionStage<List<LockAttempt.Grant>> acquire(List<LeaseRequest> requests);

}
