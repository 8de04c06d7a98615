// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

import io.github.lockstarter.LockKey;

/**
 * Keeps a lock after its owner has released it, for a {@link LockStore} that can do that;
 * see {@link io.github.lockstarter.Lease#holdAtLeast}.
 */
@FunctionalInterface
public interface LockKeeping {

	/**
	 * Keep a lock for some time instead of releasing it. A kept lock has no owner: a
	 * request of its last owner that is carried out later neither extends nor releases
	 * it.
	 * @param key the lock, which is not shared
	 * @param owner the last owner
	 * @param time how long the lock is kept from now on
	 * @return whether the lock is kept. If an earlier request of the same owner has kept
	 * it, the time of that request counts. If {@code false}, nothing was changed
	 */
	CompletionStage<Boolean> keep(LockKey key, OwnerToken owner, Duration time);

}
