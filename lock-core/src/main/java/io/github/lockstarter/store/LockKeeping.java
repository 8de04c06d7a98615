// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

import io.github.lockstarter.LockKey;

/**
 * Keeps a lock taken after its owner has ended, for a {@link LockStore} that can do that;
 * see {@link io.github.lockstarter.Lease#holdAtLeast}.
 */
@FunctionalInterface
public interface LockKeeping {

	/**
	 * Keep a lock taken for a time instead of releasing it. It belongs to no owner then:
	 * a request of its last owner that is carried out later, because it was under way,
	 * neither extends nor frees it.
	 * @param key the lock, which is not shared
	 * @param owner the owner that ends
	 * @param time how long the lock stays taken from now on
	 * @return whether the lock stays taken, also because of an earlier such request of
	 * the same owner, whose time counts then; if not, nothing was changed
	 */
	CompletionStage<Boolean> keep(LockKey key, OwnerToken owner, Duration time);

}
