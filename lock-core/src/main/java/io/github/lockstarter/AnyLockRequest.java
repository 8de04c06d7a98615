// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * A request for one lock, {@link LockRequest}, or for several together,
 * {@link LockSetRequest}. Use it in code that handles both.
 *
 * @param <L> the type of the leases: a {@link Lease} or a {@link LeaseSet}
 */
public sealed interface AnyLockRequest<L extends LeaseSet> permits LockRequest, LockSetRequest {

	/**
	 * Return how long to wait at most; zero to not wait, {@code null} for the registry's
	 * default.
	 */
	@Nullable Duration waitTime();

	/**
	 * Return this request with another wait time.
	 * @param waitTime how long to wait at most; zero to not wait
	 */
	AnyLockRequest<L> withWaitTime(Duration waitTime);

	/**
	 * Return this request on behalf of an owner, in place of the current thread.
	 * @param owner the owner
	 * @see LockRequest#withOwner(Object)
	 */
	AnyLockRequest<L> withOwner(Object owner);

}
