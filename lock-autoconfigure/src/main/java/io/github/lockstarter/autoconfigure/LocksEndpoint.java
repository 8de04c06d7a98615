// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.SanitizableData;
import org.springframework.boot.actuate.endpoint.Sanitizer;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.LocalState;
import io.github.lockstarter.store.LockInspection;

/**
 * Shows what this instance holds and waits for, and what a store says about one lock.
 * Frees a lock whose owner does not release it, if the access is unrestricted.
 */
@Endpoint(id = "locks", defaultAccess = Access.READ_ONLY)
class LocksEndpoint {

	/** How many holds, and how many waiters, of a registry are listed. */
	static final int LONGEST_LIST = 100;

	private static final int CONFLICT = 409;

	private static final int NOT_IMPLEMENTED = 501;

	private static final Log logger = LogFactory.getLog(LocksEndpoint.class);

	private final Supplier<Map<String, DefaultLockRegistry>> registries;

	private final ObjectProvider<LockRegistry> injected;

	private final @Nullable String instance;

	private final Sanitizer sanitizer;

	private final Show showValues;

	private final Duration patience;

	/**
	 * Create an endpoint.
	 * @param registries returns the registries that exist, by their names
	 * @param injected the one that is injected by its type, which may be around one of
	 * them
	 * @param instance the name of this instance, if it is known
	 * @param sanitizing what is not shown even if keys are
	 * @param showValues whether keys are shown
	 * @param patience how long an answer of a store may take
	 */
	LocksEndpoint(Supplier<Map<String, DefaultLockRegistry>> registries, ObjectProvider<LockRegistry> injected,
			@Nullable String instance, Iterable<SanitizingFunction> sanitizing, Show showValues, Duration patience) {
		this.registries = registries;
		this.injected = injected;
		this.instance = instance;
		this.sanitizer = new Sanitizer(sanitizing);
		this.showValues = showValues;
		this.patience = patience;
	}

	@ReadOperation
	LocksDescriptor locks() {
		return locks(this.showValues.isShown(true));
	}

	/**
	 * Return what this instance holds and waits for.
	 * @param showKeys whether keys are shown
	 */
	LocksDescriptor locks(boolean showKeys) {
		Map<String, LocalDescriptor> all = new TreeMap<>();
		this.registries.get().forEach((name, registry) -> all.put(name, local(registry, (key) -> true, showKeys)));
		return new LocksDescriptor(this.instance, all);
	}

	@ReadOperation
	@Nullable LockDescriptor lock(@Selector String name, @Nullable String key, @Nullable String registry) {
		return find(name, key, registry).getBody();
	}

	@DeleteOperation
	@Nullable LockDescriptor free(@Selector String name, @Nullable String key, @Nullable String token,
			@Nullable String registry) {
		return release(name, key, token, registry).getBody();
	}

	/**
	 * Return what the store, and this instance, know of a lock.
	 * @param name the name of the lock
	 * @param key its key, or {@code null} if it has none
	 * @param registry the name of the registry, or {@code null} for the one that is
	 * injected by its type
	 */
	WebEndpointResponse<LockDescriptor> find(String name, @Nullable String key, @Nullable String registry) {
		return answer(name, key, registry, "The store cannot be asked: ", this::find);
	}

	private WebEndpointResponse<LockDescriptor> find(Lock lock) throws StoreAnswer.Missing {
		LockInspection inspection = lock.inspection();
		return (inspection != null) ? lock.response(WebEndpointResponse.STATUS_OK, null, lock.inspect(inspection))
				: lock.response(WebEndpointResponse.STATUS_OK, lock.showsNothing(), null);
	}

	/**
	 * Free a lock.
	 * @param name the name of the lock
	 * @param key its key, or {@code null} if it has none
	 * @param token the fencing token of the hold that is to end
	 * @param registry the name of the registry, or {@code null} for the one that is
	 * injected by its type
	 */
	WebEndpointResponse<LockDescriptor> release(String name, @Nullable String key, @Nullable String token,
			@Nullable String registry) {
		return answer(name, key, registry, "The outcome is not known, because the store cannot be asked: ",
				(lock) -> release(lock, token(token)));
	}

	/** A text until here, so that whoever gives none, or another one, is told why. */
	private static long token(@Nullable String token) {
		try {
			if (token != null && !token.startsWith("-")) {
				return Long.parseLong(token);
			}
		}
		catch (NumberFormatException ex) {
			// As one that is missing
		}
		throw new IllegalArgumentException("The parameter 'token' must be a fencing token of the hold that is to end,"
				+ " such as the 'fencingToken' that is shown for the lock, but "
				+ ((token != null) ? "was '" + token + "'" : "is missing"));
	}

	private WebEndpointResponse<LockDescriptor> release(Lock lock, long token) throws StoreAnswer.Missing {
		LockInspection inspection = lock.inspection();
		if (inspection == null) {
			return lock.response(NOT_IMPLEMENTED, lock.showsNothing(), null);
		}
		boolean freed = lock.ask(() -> inspection.free(lock.key, token));
		if (freed) {
			logger.warn("Lock '" + lock.key + "' of the registry '" + lock.registry.name() + "' with the fencing token "
					+ token + " was freed by the endpoint 'locks'");
		}
		LockInspection.State state = lock.inspect(inspection);
		if (freed) {
			return lock.response(WebEndpointResponse.STATUS_OK, "The lock was freed from the owner with this token,"
					+ " which learns of the loss at its next renewal at the latest.", state);
		}
		return state.holders().isEmpty()
				? lock.response(WebEndpointResponse.STATUS_NOT_FOUND, "Nobody holds the lock.", state)
				: lock
					.response(CONFLICT, "The lock was not freed, because it is not held with the fencing token " + token
							+ ", or its holder is not an instance of this library. A shared lock may be freed by the"
							+ " token of the last grant only.", state);
	}

	/**
	 * Answer a request for two locks at once.
	 */
	WebEndpointResponse<LockDescriptor> refuse(String name, @Nullable String key, @Nullable String registry) {
		return refusal(WebEndpointResponse.STATUS_BAD_REQUEST,
				"The key must be either the rest of the path or the parameter 'key'; a lock without a key has neither",
				registry, name, key);
	}

	private WebEndpointResponse<LockDescriptor> answer(String name, @Nullable String key, @Nullable String registry,
			String failure, Question question) {
		DefaultLockRegistry found = (registry != null) ? this.registries.get().get(registry) : injected();
		if (found == null) {
			return refusal(WebEndpointResponse.STATUS_NOT_FOUND,
					((registry != null) ? "No lock registry has the name '" + registry + "'."
							: "No lock registry can be chosen by its type.")
							+ " The parameter 'registry' may be one of " + this.registries.get().keySet() + ".",
					registry, name, key);
		}
		try {
			return question.put(new Lock(found, new LockKey(name, key)));
		}
		catch (IllegalArgumentException ex) {
			return refusal(WebEndpointResponse.STATUS_BAD_REQUEST, String.valueOf(ex.getMessage()), found.name(), name,
					key);
		}
		catch (StoreAnswer.Missing ex) {
			return refusal(WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE, failure + ex.reason(), found.name(), name,
					key);
		}
	}

	private @Nullable DefaultLockRegistry injected() {
		LockRegistry registry = this.injected.getIfUnique();
		while (registry != null && registry.delegate() != registry) {
			registry = registry.delegate();
		}
		return (registry instanceof DefaultLockRegistry found) ? found : null;
	}

	private static WebEndpointResponse<LockDescriptor> refusal(int status, String message, @Nullable String registry,
			String name, @Nullable String key) {
		return new WebEndpointResponse<>(new LockDescriptor(message, registry, name, key, null, null, null, null),
				status);
	}

	private LocalDescriptor local(DefaultLockRegistry registry, Predicate<LockKey> which, boolean showKeys) {
		Instant now = Instant.now();
		LocalState state = registry.localState();
		List<LocalState.Held> held = state.held().stream().filter((each) -> which.test(each.key())).toList();
		List<LocalState.Waiting> waiting = state.waiting().stream().filter((each) -> which.test(each.key())).toList();
		return new LocalDescriptor(
				held.stream()
					.limit(LONGEST_LIST)
					.map((each) -> HeldDescriptor.of(each, key(each.key(), showKeys), now))
					.toList(),
				leftOut(held),
				waiting.stream()
					.limit(LONGEST_LIST)
					.map((each) -> WaitingDescriptor.of(each, key(each.key(), showKeys), now))
					.toList(),
				leftOut(waiting));
	}

	private @Nullable Object key(LockKey lock, boolean shown) {
		return this.sanitizer.sanitize(new SanitizableData(null, lock.name(), lock.key()), shown);
	}

	private static int leftOut(List<?> all) {
		return Math.max(0, all.size() - LONGEST_LIST);
	}

	private static Duration millis(Duration duration) {
		return duration.truncatedTo(ChronoUnit.MILLIS);
	}

	private static Instant before(Instant now, Duration duration) {
		return now.minus(duration).truncatedTo(ChronoUnit.MILLIS);
	}

	/**
	 * What is asked about a lock.
	 */
	private interface Question {

		WebEndpointResponse<LockDescriptor> put(Lock lock) throws StoreAnswer.Missing;

	}

	/**
	 * A lock of a registry.
	 */
	private final class Lock {

		private final DefaultLockRegistry registry;

		private final LockKey key;

		Lock(DefaultLockRegistry registry, LockKey key) {
			this.registry = registry;
			this.key = key;
		}

		@Nullable LockInspection inspection() {
			return this.registry.inspection().orElse(null);
		}

		String showsNothing() {
			return "The store of the registry '" + this.registry.name()
					+ "' does not show who holds a lock, and frees none.";
		}

		LockInspection.State inspect(LockInspection inspection) throws StoreAnswer.Missing {
			return ask(() -> inspection.inspect(this.key));
		}

		<T> T ask(Supplier<CompletionStage<T>> question) throws StoreAnswer.Missing {
			return StoreAnswer.await(StoreAnswer.ask(this.registry.store(), question), LocksEndpoint.this.patience);
		}

		/** The caller knows the key. */
		WebEndpointResponse<LockDescriptor> response(int status, @Nullable String message,
				LockInspection.@Nullable State state) {
			LocalDescriptor local = local(this.registry, this.key::equals, true);
			return new WebEndpointResponse<>(
					new LockDescriptor(message, this.registry.name(), this.key.name(), this.key.key(),
							(state != null) ? state.holders().stream().map(HolderDescriptor::of).toList() : null,
							(state != null && state.fencingToken() != 0) ? Long.toString(state.fencingToken()) : null,
							(state != null) ? state.waiters() : null, local),
					status);
		}

	}

	/**
	 * What this instance holds and waits for.
	 *
	 * @param instance the name of this instance
	 * @param registries what it holds and waits for, by the names of its registries
	 */
	record LocksDescriptor(@Nullable String instance,
			Map<String, LocalDescriptor> registries) implements OperationResponseBody {
	}

	/**
	 * What this instance holds and waits for.
	 *
	 * @param held the longest holds
	 * @param heldLeftOut how many more there are
	 * @param waiting the longest waits
	 * @param waitingLeftOut how many more there are
	 */
	record LocalDescriptor(List<HeldDescriptor> held, int heldLeftOut, List<WaitingDescriptor> waiting,
			int waitingLeftOut) {
	}

	/**
	 * A hold.
	 *
	 * @param fencingToken a text, because JavaScript would round the number
	 * @param since when it began, by the clock of this instance
	 */
	record HeldDescriptor(String name, @Nullable Object key, LockMode mode, String fencingToken, String owner,
			Instant since, Duration held, Duration remaining, long renewals, LocalState.Status status) {

		static HeldDescriptor of(LocalState.Held held, @Nullable Object key, Instant now) {
			return new HeldDescriptor(held.key().name(), key, held.mode(), Long.toString(held.fencingToken()),
					held.owner(), before(now, held.held()), millis(held.held()), millis(held.remaining()),
					held.renewals(), held.status());
		}

	}

	/**
	 * A waiter.
	 *
	 * @param since when it began to wait, by the clock of this instance
	 * @param left of its wait time, {@code null} if it waits for ever
	 */
	record WaitingDescriptor(String name, @Nullable Object key, LockMode mode, String owner, Instant since,
			Duration waited, @Nullable Duration left, @Nullable String holder) {

		static WaitingDescriptor of(LocalState.Waiting waiting, @Nullable Object key, Instant now) {
			Duration left = waiting.left();
			return new WaitingDescriptor(waiting.key().name(), key, waiting.mode(), waiting.owner(),
					before(now, waiting.waited()), millis(waiting.waited()), (left != null) ? millis(left) : null,
					waiting.holder());
		}

	}

	/**
	 * A lock.
	 *
	 * @param message what else there is to say
	 * @param holders who holds it, as the store knows
	 * @param fencingToken that of the last grant, as a text
	 * @param waiters the instances in its line
	 * @param here what this instance holds and waits for
	 */
	record LockDescriptor(@Nullable String message, @Nullable String registry, String name, @Nullable String key,
			@Nullable List<HolderDescriptor> holders, @Nullable String fencingToken, @Nullable List<String> waiters,
			@Nullable LocalDescriptor here) implements OperationResponseBody {
	}

	/**
	 * A holder.
	 *
	 * @param instance its name
	 * @param remaining how long its lease lasts if it is not renewed, if the store knows
	 * @param kept whether its body has ended, and the lock is only kept
	 * @param fencingToken as a text, if the store knows that of each holder
	 */
	record HolderDescriptor(String instance, LockMode mode, @Nullable Duration remaining, boolean kept,
			@Nullable String fencingToken) {

		static HolderDescriptor of(LockInspection.Holder holder) {
			Duration remaining = holder.remaining();
			Long token = holder.fencingToken();
			return new HolderDescriptor(holder.name(), holder.mode(), (remaining != null) ? millis(remaining) : null,
					holder.kept(), (token != null) ? token.toString() : null);
		}

	}

}
