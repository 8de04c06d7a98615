// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.redis.RedisVote;
import io.github.lockstarter.redis.Voter;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;

/**
 * Servers that vote on one lock, in simulated time: each message takes a random time, and
 * only messages of one instance to one server keep their order. No lease expires.
 */
final class SimulatedServers implements Time {

	private static final long SLOWEST = TimeUnit.MILLISECONDS.toNanos(4);

	private final Random random;

	private final List<Holding> holdings;

	private final Set<Integer> silent = new HashSet<>();

	private final PriorityQueue<Event> events = new PriorityQueue<>(
			Comparator.comparingLong(Event::at).thenComparingLong(Event::number));

	private long now;

	private long lastNumber;

	SimulatedServers(int number, long seed) {
		this.random = new Random(seed);
		this.holdings = IntStream.range(0, number).mapToObj((i) -> new Holding()).toList();
	}

	/**
	 * Let a server execute nothing.
	 */
	void silence(int server) {
		this.silent.add(server);
	}

	/**
	 * Let an owner that is gone have the vote of a server.
	 */
	void leave(int server) {
		this.holdings.get(server).owner = OwnerToken.random();
	}

	/**
	 * Return the connections of one instance.
	 */
	List<Voter> connect() {
		return new ArrayList<>(IntStream.range(0, this.holdings.size())
			.mapToObj((i) -> new Connection(i, this.holdings.get(i)))
			.toList());
	}

	/**
	 * Let something happen at a random time within a period.
	 */
	void within(long nanos, Runnable action) {
		at(this.now + this.random.nextLong(nanos + 1), action);
	}

	/**
	 * Let time pass until nothing happens any more.
	 */
	void run() {
		for (Event next = this.events.poll(); next != null; next = this.events.poll()) {
			this.now = next.at();
			next.action().run();
		}
	}

	private void at(long time, Runnable action) {
		this.events.add(new Event(time, ++this.lastNumber, action));
	}

	@Override
	public long now() {
		return this.now;
	}

	@Override
	public Executor after(long meanPause) {
		long pause = this.random.nextLong(meanPause / 2, meanPause * 3 / 2);
		return (action) -> at(this.now + pause, action);
	}

	private record Event(long at, long number, Runnable action) {

	}

	private static final class Holding {

		private @Nullable OwnerToken owner;

		private long attempt;

	}

	private final class Connection implements Voter {

		private final int server;

		private final Holding holding;

		private final RedisVote.Run run;

		private long lastArrival;

		private long lastAnswer;

		Connection(int server, Holding holding) {
			this.server = server;
			this.holding = holding;
			this.run = new RedisVote.Run("server", "run-" + server, 100);
		}

		@Override
		public RedisVote.@Nullable Run lastRun() {
			return isSilent() ? null : this.run;
		}

		@Override
		public boolean isSilent() {
			return SimulatedServers.this.silent.contains(this.server);
		}

		@Override
		public CompletableFuture<RedisVote> acquire(LeaseRequest request, long attempt) {
			return send(() -> {
				OwnerToken owner = this.holding.owner;
				if (owner != null && !owner.equals(request.owner())) {
					return new RedisVote(this.run, false, 20_000, owner);
				}
				this.holding.owner = request.owner();
				this.holding.attempt = attempt;
				return new RedisVote(this.run, true, 7, request.owner());
			});
		}

		@Override
		public CompletableFuture<Boolean> raise(LockKey key, OwnerToken owner, long base) {
			throw new UnsupportedOperationException("All servers have the same fencing base");
		}

		@Override
		public CompletableFuture<Boolean> release(LockKey key, OwnerToken owner, long attempt) {
			return send(() -> {
				if (!owner.equals(this.holding.owner) || attempt != this.holding.attempt) {
					return false;
				}
				this.holding.owner = null;
				return true;
			});
		}

		private <T> CompletableFuture<T> send(Supplier<T> script) {
			CompletableFuture<T> answer = new CompletableFuture<>();
			if (!isSilent()) {
				this.lastArrival = later(this.lastArrival);
				at(this.lastArrival, () -> {
					T result = script.get();
					this.lastAnswer = later(this.lastAnswer);
					at(this.lastAnswer, () -> answer.complete(result));
				});
			}
			return answer;
		}

		private long later(long previous) {
			SimulatedServers servers = SimulatedServers.this;
			return Math.max(previous, servers.now + servers.random.nextLong(SLOWEST));
		}

	}

}
