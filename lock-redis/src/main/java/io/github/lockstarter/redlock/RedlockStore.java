// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.redis.RedisVoter;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;

/**
 * Keeps exclusive locks on a majority of independent Redis servers, by the <a href=
 * "https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/">Redlock
 * algorithm</a>. Use it if locks must be available, and not be lost, while a minority of
 * the servers is down, silent, or restarted without its data. Waiters poll.
 *
 * <p>
 * The servers must not be replicas of each other, evict keys, or be flushed. As with
 * every lease, two owners are possible if clocks run at very different speeds: let the
 * guarded resource check fencing tokens. These grow as long as a server of each majority
 * remembers the last one, and otherwise by the clocks of the instances.
 */
public final class RedlockStore implements LockStore, AutoCloseable {

	private static final Set<LockMode> MODES = Set.of(LockMode.EXCLUSIVE, LockMode.WRITE);

	private static final Duration LONGEST_START = Duration.ofSeconds(2);

	/** Each connection has its own time-out, which is shorter. */
	private static final Duration LONGEST_CONNECT = Duration.ofMinutes(1);

	private static final Instant EPOCH = Instant.parse("2024-01-01T00:00:00Z");

	/** Fencing bases stay below 2^51, even if a clock is far ahead. */
	private static final long LATEST = (1L << 51) - (1L << 40);

	private final RedlockSettings settings;

	private final LongSupplier micros;

	private final List<RedisVoter> servers = new ArrayList<>();

	private final AtomicLong lastAttempt = new AtomicLong();

	/**
	 * Create a store with the {@linkplain RedlockSettings#DEFAULTS default settings}.
	 * @param servers the connections to each server
	 */
	public RedlockStore(List<? extends RedisConnectionFactory> servers) {
		this(servers, RedlockSettings.DEFAULTS);
	}

	/**
	 * Create a store.
	 * @param servers the connections to each server, with Lettuce; only their
	 * configuration is used
	 * @param settings the settings
	 * @throws IllegalArgumentException if the number of servers is even or less than
	 * three, or two of those that can be reached are the same
	 */
	public RedlockStore(List<? extends RedisConnectionFactory> servers, RedlockSettings settings) {
		this(servers, settings, () -> Duration.between(EPOCH, Instant.now()).toNanos() / 1000);
	}

	/**
	 * Create a store with another clock.
	 * @param micros microseconds since 2024
	 */
	RedlockStore(List<? extends RedisConnectionFactory> servers, RedlockSettings settings, LongSupplier micros) {
		if (servers.size() < 3 || servers.size() % 2 == 0) {
			throw new IllegalArgumentException(
					"Redlock needs an odd number of servers, at least three, but there are " + servers.size());
		}
		this.settings = settings;
		this.micros = micros;
		try {
			servers.forEach((server) -> this.servers
				.add(new RedisVoter(server, settings.prefix(), settings.fenceRetention(), settings.nodeTimeout())));
			Answers.of(this.servers, RedisVoter::run, (runs) -> false, LONGEST_START).join();
			Election.requireDistinct(this.servers);
		}
		catch (RuntimeException ex) {
			close();
			throw ex;
		}
	}

	@Override
	public String name() {
		return "redlock";
	}

	@Override
	public String address() {
		return this.servers.stream().map(RedisVoter::address).collect(Collectors.joining("; "));
	}

	@Override
	public Set<LockMode> modes() {
		return MODES;
	}

	/**
	 * Wait for the connections to a majority of the servers.
	 */
	@Override
	public CompletionStage<?> connect() {
		Predicate<Answers<Object>> enough = (connected) -> connected.answers().size() >= connected.majority();
		return Answers
			.of(this.servers, (server) -> server.connect().<Object>thenApply((connection) -> true), enough,
					LONGEST_CONNECT)
			.thenAccept((connected) -> {
				if (!enough.test(connected)) {
					throw connected.tooFew(connected.answers().size(), "can be reached");
				}
			});
	}

	@Override
	public CompletionStage<AcquireResult> acquire(LeaseRequest request, boolean wait) {
		return new Candidacy(this.servers, this.settings, this::nextAttempt, request, Time.REAL).begin();
	}

	@Override
	public List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
		long attempt = nextAttempt();
		CompletableFuture<Answers<List<Boolean>>> all = ask((server) -> server.renew(requests, attempt),
				(held) -> indices(requests).allMatch((i) -> Answers.isClear(held.map((each) -> each.get(i)))));
		return indices(requests)
			.<CompletionStage<Boolean>>mapToObj(
					(i) -> all.thenCompose((held) -> renewed(requests.get(i), held.map((each) -> each.get(i)))))
			.toList();
	}

	private CompletionStage<Boolean> renewed(LeaseRequest request, Answers<Boolean> held) {
		if (held.isMajority((each) -> each)) {
			return CompletableFuture.completedFuture(true);
		}
		if (!held.isMajority((each) -> !each)) {
			return CompletableFuture.failedFuture(held.tooFew(held.count((each) -> each), "confirmed the lease"));
		}
		// The lock is lost, but servers where it was free have taken it again
		return request.leaseTime().isZero() ? CompletableFuture.completedFuture(false)
				: release(request.key(), request.owner()).handle((outcome, ex) -> false);
	}

	@Override
	public CompletionStage<Boolean> release(LockKey key, OwnerToken owner) {
		return ask((server) -> server.release(key, owner), Answers::isClear).thenApply((released) -> {
			if (released.isMajority((each) -> !each)) {
				return false;
			}
			if (released.isMajority((each) -> true)) {
				return true;
			}
			throw released.tooFew(released.answers().size(), "answered");
		});
	}

	@Override
	public Optional<LockInspection> inspection() {
		return Optional.of(new LockInspection() {

			@Override
			public CompletionStage<State> inspect(LockKey key) {
				return find(key).thenApply(RedlockStore::state);
			}

			@Override
			public CompletionStage<Boolean> free(LockKey key, long fencingToken) {
				return find(key).thenCompose((found) -> holdings(found).stream()
					.filter((holding) -> !OwnerToken.isForeign(holding.owner().value())
							&& holding.fencingBase() == LockInspection.baseOf(fencingToken))
					.findFirst()
					.map((holding) -> release(key, holding.owner()))
					.orElse(CompletableFuture.completedFuture(false)));
			}

		});
	}

	/** A minority knows neither the owner nor the last fencing base. */
	private CompletableFuture<Answers<RedisVoter.Holding>> find(LockKey key) {
		return ask((server) -> server.inspect(key), (found) -> false).thenApply((found) -> {
			if (!found.isMajority((each) -> true)) {
				throw found.tooFew(found.answers().size(), "answered");
			}
			return found;
		});
	}

	private static LockInspection.State state(Answers<RedisVoter.Holding> found) {
		List<RedisVoter.Holding> holdings = holdings(found);
		// Those who asked in vain, and renewals, leave larger bases on servers that were
		// free
		List<Long> bases = (holdings.isEmpty() ? found.answers() : holdings).stream()
			.map(RedisVoter.Holding::fencingBase)
			.toList();
		long base = bases.stream().max(Comparator.comparing((each) -> Collections.frequency(bases, each))).orElse(0L);
		return new LockInspection.State(holdings.stream().limit(1).map(RedlockStore::holder).toList(),
				LockInspection.tokenOf(base), List.of());
	}

	private static LockInspection.Holder holder(RedisVoter.Holding holding) {
		Duration remaining = (holding.remaining() >= 0) ? Duration.ofMillis(holding.remaining()) : null;
		return LockInspection.Holder.of(holding.owner().value(), LockMode.EXCLUSIVE, remaining, null);
	}

	/**
	 * Return what the servers say that know the owner of a lock, if a majority knows it.
	 */
	private static List<RedisVoter.Holding> holdings(Answers<RedisVoter.Holding> found) {
		return found.answers()
			.stream()
			.filter((each) -> !each.isFree() && found.isMajority((other) -> other.owner().equals(each.owner())))
			.toList();
	}

	private <T> CompletableFuture<Answers<T>> ask(Function<RedisVoter, CompletableFuture<T>> request,
			Predicate<Answers<T>> enough) {
		return Answers.of(this.servers, request, enough, this.settings.nodeTimeout());
	}

	/**
	 * Return the time for which a restarted server has no vote: by then, what it may have
	 * forgotten no longer counts.
	 */
	@Override
	public Duration longestLease() {
		return this.settings.longestLease();
	}

	/** Return a number larger than before, which is the time if possible. */
	private long nextAttempt() {
		long now = Math.min(this.micros.getAsLong(), LATEST);
		return this.lastAttempt.accumulateAndGet(now, (last, time) -> Math.max(last + 1, time));
	}

	private static IntStream indices(List<?> elements) {
		return IntStream.range(0, elements.size());
	}

	@Override
	public boolean mayBlock() {
		return false;
	}

	/**
	 * Close the connections that this store has opened.
	 */
	@Override
	public void close() {
		this.servers.forEach(RedisVoter::close);
	}

}
