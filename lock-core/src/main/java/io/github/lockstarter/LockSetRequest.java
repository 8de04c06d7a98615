// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

/**
 * A request for several locks, for a {@link LockRegistry} or a {@link LockTemplate}. They
 * are acquired together or not at all, and held as a {@link LeaseSet}.
 *
 * <pre class="code">
 * LockSetRequest both = LockSetRequest.of("account", List.of(from, to)).withWaitTime(Duration.ofSeconds(3));
 * </pre>
 *
 * There is one wait time for all locks. A lock that is requested twice is acquired once:
 * in the stronger mode, and kept for the longer {@code holdAtLeast}.
 *
 * @param requests a request for each lock, without wait times, in the order in which the
 * locks are acquired. That order is the same in all instances, so that two requests with
 * common locks cannot deadlock
 * @param waitTime how long to wait for all locks together at most; zero to not wait,
 * {@code null} for the registry's default
 */
public record LockSetRequest(List<LockRequest> requests,
		@Nullable Duration waitTime) implements AnyLockRequest<LeaseSet> {

	/**
	 * Maximum number of locks that can be acquired together.
	 */
	public static final int MAX_LOCKS = 1000;

	/**
	 * Create a request.
	 * @param requests requests for one to {@value #MAX_LOCKS} locks, in any order; the
	 * wait time of each is that of the set or {@code null}
	 * @param waitTime how long to wait for all locks together
	 */
	public LockSetRequest {
		if (requests.isEmpty()) {
			throw new IllegalArgumentException("A set of locks must not be empty");
		}
		Map<LockKey, LockRequest> sorted = new TreeMap<>(Comparator.comparing(LockKey::text));
		for (LockRequest request : requests) {
			if (request.waitTime() != null && !request.waitTime().equals(waitTime)) {
				throw new IllegalArgumentException("There is one wait time for all locks of a set, but that of lock '"
						+ request.key() + "' is " + request.waitTime() + " and another one is " + waitTime);
			}
			sorted.merge(request.key(), request, LockSetRequest::stronger);
		}
		if (sorted.size() > MAX_LOCKS) {
			throw new IllegalArgumentException(
					"At most " + MAX_LOCKS + " locks can be acquired together, but these are " + sorted.size());
		}
		requests = sorted.values().stream().map(LockSetRequest::withoutWaitTime).toList();
		waitTime = (waitTime != null) ? LockRequest.limited(waitTime) : null;
	}

	/**
	 * Return a request for the locks of several keys within a name, with the registry's
	 * defaults.
	 * @param name the name of what is guarded
	 * @param keys one to {@value #MAX_LOCKS} keys
	 * @see LockKey#of(String, Object)
	 */
	public static LockSetRequest of(String name, Collection<?> keys) {
		if (keys.isEmpty()) {
			throw new IllegalArgumentException("'keys' of the locks '" + name + "' must not be empty");
		}
		return new LockSetRequest(keys.stream().map((key) -> LockRequest.of(name, key)).toList(), null);
	}

	/**
	 * Return a request for several locks.
	 * @param requests a request for each lock; all wait times must be the same or
	 * {@code null}
	 */
	public static LockSetRequest of(LockRequest... requests) {
		return of(List.of(requests));
	}

	/**
	 * Return a request for several locks.
	 * @param requests a request for each lock; all wait times must be the same or
	 * {@code null}
	 */
	public static LockSetRequest of(Collection<LockRequest> requests) {
		Duration waitTime = requests.stream()
			.map(LockRequest::waitTime)
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
		return new LockSetRequest(List.copyOf(requests), waitTime);
	}

	static List<LockRequest> requestsOf(AnyLockRequest<?> request) {
		return (request instanceof LockRequest one) ? List.of(one) : ((LockSetRequest) request).requests();
	}

	@Override
	public LockSetRequest withWaitTime(Duration waitTime) {
		return new LockSetRequest(this.requests, waitTime);
	}

	/**
	 * Return this request with all locks in another mode.
	 * @param mode the mode in which to acquire the locks
	 */
	public LockSetRequest withMode(LockMode mode) {
		return each((request) -> request.withMode(mode));
	}

	/**
	 * Return this request with a fixed lease time for all locks.
	 * @param leaseTime length of the leases
	 * @see LockRequest#withLeaseTime
	 */
	public LockSetRequest withLeaseTime(Duration leaseTime) {
		return each((request) -> request.withLeaseTime(leaseTime));
	}

	/**
	 * Return this request with a time for which all locks are kept after their grant.
	 * @param holdAtLeast the time
	 * @see LockRequest#withHoldAtLeast
	 */
	public LockSetRequest withHoldAtLeast(Duration holdAtLeast) {
		return each((request) -> request.withHoldAtLeast(holdAtLeast));
	}

	LockSetRequest withoutHoldAtLeast() {
		return each(LockRequest::withoutHoldAtLeast);
	}

	/**
	 * Return this request on behalf of one owner of all locks.
	 * @param owner the owner
	 * @see LockRequest#withOwner
	 */
	@Override
	public LockSetRequest withOwner(Object owner) {
		return each((request) -> request.withOwner(owner));
	}

	private LockSetRequest each(UnaryOperator<LockRequest> change) {
		return new LockSetRequest(this.requests.stream().map(change).toList(), this.waitTime);
	}

	private static LockRequest withoutWaitTime(LockRequest request) {
		return (request.waitTime() == null) ? request : new LockRequest(request.key(), request.mode(), null,
				request.leaseTime(), request.holdAtLeast(), request.owner());
	}

	private static LockRequest stronger(LockRequest one, LockRequest other) {
		if (!Objects.equals(one.owner(), other.owner())) {
			throw new IllegalArgumentException(
					"Lock '" + one.key() + "' cannot be acquired on behalf of two owners together");
		}
		boolean second = strength(other.mode()) > strength(one.mode());
		LockRequest stronger = second ? other : one;
		Duration time = stronger.holdAtLeast();
		Duration otherTime = (second ? one : other).holdAtLeast();
		if (otherTime == null || (time != null && otherTime.compareTo(time) <= 0)) {
			return stronger;
		}
		return stronger.withHoldAtLeast(otherTime);
	}

	private static int strength(LockMode mode) {
		return switch (mode) {
			case READ -> 0;
			case EXCLUSIVE, WRITE -> 1;
			case FAIR -> 2;
		};
	}

}
