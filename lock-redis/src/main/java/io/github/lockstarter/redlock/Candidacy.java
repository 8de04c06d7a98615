// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.github.lockstarter.redis.RedisVote;
import io.github.lockstarter.redis.Voter;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.UnusableStoreException;

/**
 * The candidacy of one owner for a lock, in one election or several. If nobody wins
 * because owners have asked at the same time, the owner with the vote of the first server
 * leads: it keeps its votes, and asks again until it wins. The others withdraw, and ask
 * that server alone from then on, so that they take no vote that the leader needs.
 *
 * <p>
 * The lease counts from before the first request, which is the business of the engine.
 */
final class Candidacy {

	/** An owner that does not lead for so long is refused. */
	private static final int MOST_ELECTIONS = 6;

	private static final long MILLISECOND = 1_000_000;

	private final List<? extends Voter> servers;

	private final RedlockSettings settings;

	private final LongSupplier attempts;

	private final LeaseRequest request;

	private final Time time;

	private final Duration limit;

	private final long since;

	/**
	 * Create a candidacy.
	 * @param attempts returns a larger number each time
	 */
	Candidacy(List<? extends Voter> servers, RedlockSettings settings, LongSupplier attempts, LeaseRequest request,
			Time time) {
		this.servers = servers;
		this.settings = settings;
		this.attempts = attempts;
		this.request = request;
		this.time = time;
		this.since = time.now();
		this.limit = shorter(shorter(request.leaseTime(), settings.longestLease()).dividedBy(3),
				settings.nodeTimeout());
	}

	CompletableFuture<AcquireResult> begin() {
		return elect(this.attempts.getAsLong(), 1);
	}

	/**
	 * Hold an election.
	 * @param attempt the same number as before if the owner keeps its votes; a late
	 * withdrawal must not affect new ones
	 */
	private CompletableFuture<AcquireResult> elect(long attempt, int number) {
		return ask(this.servers, attempt).thenCompose((election) -> count(election, attempt, number));
	}

	private <V extends Voter> CompletableFuture<Election> ask(List<V> servers, long attempt) {
		return Answers
			.of(servers, (server) -> server.acquire(this.request, attempt), (votes) -> election(votes).isDecided(),
					this.limit)
			.thenApply(this::election);
	}

	private Election election(Answers<RedisVote> votes) {
		return new Election(votes, this.request.owner(), this.settings.restartDelay());
	}

	private CompletableFuture<AcquireResult> count(Election election, long attempt, int number) {
		try {
			Election.requireDistinct(this.servers);
		}
		catch (IllegalArgumentException ex) {
			withdraw(attempt);
			return CompletableFuture.failedFuture(new UnusableStoreException(String.valueOf(ex.getMessage()), ex));
		}
		if (election.isWon()) {
			return win(election, attempt);
		}
		boolean open = election.isCounted() && !election.isHeld()
				&& this.time.now() - this.since < this.limit.toNanos();
		if (open && election.isLeading()) {
			return later(number * MILLISECOND, () -> elect(attempt, number + 1));
		}
		withdraw(attempt);
		if (open && number < MOST_ELECTIONS) {
			return follow(election.first().run().id(), number);
		}
		return election.isCounted()
				? CompletableFuture.completedFuture(new AcquireResult.Refusal(election.remaining(), election.holder()))
				: CompletableFuture.failedFuture(election.tooFew());
	}

	/**
	 * Ask the first server until it is free, then all. The last time all are asked in any
	 * case, because its vote may belong to an owner that is gone.
	 */
	private CompletableFuture<AcquireResult> follow(String first, int number) {
		return later((MILLISECOND << number), () -> {
			long attempt = this.attempts.getAsLong();
			Optional<? extends Voter> server = this.servers.stream()
				.filter((each) -> Optional.ofNullable(each.lastRun())
					.filter((run) -> run.id().equals(first))
					.isPresent())
				.findFirst();
			if (server.isEmpty() || number + 1 >= MOST_ELECTIONS) {
				return elect(attempt, number + 1);
			}
			return ask(List.of(server.get()), attempt)
				.thenCompose((election) -> election.isHeld() ? follow(first, number + 1) : elect(attempt, number + 1));
		});
	}

	/**
	 * Accept the lock when a majority remembers its fencing base.
	 */
	private CompletableFuture<AcquireResult> win(Election election, long attempt) {
		long base = election.fencingBase();
		return remember(election, base).thenApply((remembered) -> {
			if (!remembered) {
				withdraw(attempt);
				throw new IllegalStateException("Too few Redis servers have stored the fencing token of the grant");
			}
			return new AcquireResult.Grant(base);
		});
	}

	private CompletableFuture<Boolean> remember(Election election, long base) {
		if (election.isRemembered()) {
			return CompletableFuture.completedFuture(true);
		}
		return Answers
			.of(this.servers, (server) -> server.raise(this.request.key(), this.request.owner(), base),
					Answers::isClear, this.limit)
			.thenApply((raised) -> raised.isMajority((each) -> each));
	}

	/** Release what an attempt has acquired, also on servers that have not answered. */
	private void withdraw(long attempt) {
		this.servers.forEach((server) -> server.release(this.request.key(), this.request.owner(), attempt));
	}

	/** Go on after a random pause, because owners that ask in step split the votes. */
	private <T> CompletableFuture<T> later(long meanPause, Supplier<CompletableFuture<T>> step) {
		return CompletableFuture.supplyAsync(step, this.time.after(meanPause)).thenCompose(Function.identity());
	}

	private static Duration shorter(Duration a, Duration b) {
		return (a.compareTo(b) < 0) ? a : b;
	}

}
