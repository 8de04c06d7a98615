// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * The settings of lock names. What an annotation or a request says comes first, then the
 * settings of its name, then the defaults. With Spring Boot they are the properties
 * {@code distributed-lock.locks.<name>}; in other applications, declare a bean of this
 * type, or pass one to {@code DefaultLockRegistry}.
 *
 * <p>
 * Where locks of several names are acquired together, the stricter setting counts: the
 * shortest wait time, {@link OnLost#INTERRUPT} before {@link OnLost#THROW} before
 * {@link OnLost#LOG}, and {@code SKIP} or {@code FALLBACK} only if all names agree on it.
 *
 * @param names the settings by lock name; a name that is missing has none
 */
public record LockSettings(Map<String, NameSettings> names) {

	/**
	 * No settings for any name.
	 */
	public static final LockSettings NONE = new LockSettings(Map.of());

	public LockSettings {
		names.keySet().forEach(LockKey::of);
		names = Map.copyOf(names);
	}

	/**
	 * Return the settings that a registry applies. A mock of a registry has none.
	 */
	static LockSettings of(LockRegistry registry) {
		return Objects.requireNonNullElse(registry.settings(), NONE);
	}

	/**
	 * Return the settings of a name.
	 * @param name the name
	 */
	public NameSettings get(String name) {
		return this.names.getOrDefault(name, NameSettings.NONE);
	}

	/**
	 * Return a request for a registry with the settings of its name filled in.
	 * @param request the request
	 */
	public LockRequest forLease(LockRequest request) {
		return complete(request, false);
	}

	/**
	 * Return a request for a registry with the settings of its names filled in.
	 * @param request the request
	 */
	public LockSetRequest forLease(LockSetRequest request) {
		return complete(request, false);
	}

	/**
	 * Return a request for a {@link LockTemplate} or an annotated method with the
	 * settings of its name filled in.
	 * @param request the request
	 * @throws IllegalArgumentException if a setting does not fit the mode of the request
	 */
	public LockRequest forBody(LockRequest request) {
		return complete(request, true);
	}

	@SuppressWarnings("unchecked")
	<L extends LeaseSet> AnyLockRequest<L> forBody(AnyLockRequest<L> request) {
		if (this.names.isEmpty()) {
			return request;
		}
		return (AnyLockRequest<L>) ((request instanceof LockRequest one) ? complete(one, true)
				: complete((LockSetRequest) request, true));
	}

	private LockRequest complete(LockRequest request, boolean body) {
		NameSettings settings = this.names.isEmpty() ? NameSettings.NONE : get(request.key().name());
		if (settings == NameSettings.NONE) {
			return request;
		}
		LockRequest filled = settings.fill(request, body);
		Duration waitTime = settings.waitTime();
		return (filled.waitTime() == null && waitTime != null) ? filled.withWaitTime(waitTime) : filled;
	}

	private LockSetRequest complete(LockSetRequest request, boolean body) {
		if (this.names.isEmpty()
				|| request.requests().stream().noneMatch((each) -> this.names.containsKey(each.key().name()))) {
			return request;
		}
		List<LockRequest> filled = request.requests()
			.stream()
			.map((each) -> get(each.key().name()).fill(each, body))
			.toList();
		return new LockSetRequest(filled, (request.waitTime() != null) ? request.waitTime() : shortestWait(filled));
	}

	private @Nullable Duration shortestWait(List<LockRequest> requests) {
		return requests.stream()
			.map((each) -> get(each.key().name()))
			.map(NameSettings::waitTime)
			.filter(Objects::nonNull)
			.min(Duration::compareTo)
			.orElse(null);
	}

	/**
	 * Return the reaction to contention.
	 * @param names the names of locks that are acquired together
	 */
	public OnContention onContention(Collection<String> names) {
		return names.stream().allMatch((name) -> get(name).onContention() == OnContention.SKIP) ? OnContention.SKIP
				: OnContention.THROW;
	}

	/**
	 * Return the reaction to an outage.
	 * @param names the names of locks that are acquired together
	 */
	public OnUnavailable onUnavailable(Collection<String> names) {
		return names.stream().allMatch((name) -> get(name).onUnavailable() == OnUnavailable.FALLBACK)
				? OnUnavailable.FALLBACK : OnUnavailable.THROW;
	}

	/**
	 * Return the reaction to the loss of a lock.
	 */
	OnLost onLost(AnyLockRequest<?> request) {
		if (this.names.isEmpty()) {
			return OnLost.THROW;
		}
		Set<OnLost> all = LockSetRequest.requestsOf(request)
			.stream()
			.map((each) -> get(each.key().name()).onLost())
			.collect(Collectors.toSet());
		if (all.contains(OnLost.INTERRUPT)) {
			return OnLost.INTERRUPT;
		}
		return all.equals(Set.of(OnLost.LOG)) ? OnLost.LOG : OnLost.THROW;
	}

}
