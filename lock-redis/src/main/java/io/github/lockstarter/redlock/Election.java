// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.redis.RedisVote;
import io.github.lockstarter.redis.Voter;
import io.github.lockstarter.store.OwnerToken;

/**
 * What the votes of independent servers mean for the owner that has asked for a lock.
 *
 * @param votes the votes
 * @param owner the owner
 * @param restartDelay how long a server has no vote after its start
 */
record Election(Answers<RedisVote> votes, OwnerToken owner, Duration restartDelay) {

	/**
	 * Check that servers are different ones, as far as they have ever answered.
	 * @throws IllegalArgumentException if two of them are the same
	 */
	static void requireDistinct(List<? extends Voter> servers) {
		Map<String, String> addresses = new HashMap<>();
		for (Voter server : servers) {
			RedisVote.Run run = server.lastRun();
			String other = (run != null) ? addresses.put(run.id(), run.address()) : null;
			if (run != null && other != null) {
				throw new IllegalArgumentException("Redlock needs servers that are independent of each other, but "
						+ other + " and " + run.address() + " are the same server: both have the run_id " + run.id());
			}
		}
	}

	/**
	 * Return whether further votes cannot help the owner, or are not needed.
	 */
	boolean isDecided() {
		return isWon() || (isCounted() && isHeld());
	}

	/**
	 * Return whether a majority has granted the lock.
	 */
	boolean isWon() {
		return granted() >= this.votes.majority();
	}

	/**
	 * Return whether a majority has voted.
	 */
	boolean isCounted() {
		return voters() >= this.votes.majority();
	}

	/**
	 * Return whether another owner certainly holds the lock.
	 */
	boolean isHeld() {
		return this.votes.answers()
			.stream()
			.filter((vote) -> !vote.granted())
			.anyMatch((vote) -> this.votes.isMajority((other) -> other.holder().equals(vote.holder())));
	}

	/**
	 * Return the name of the owner that has most of the votes, or {@code null} if all
	 * have granted the lock.
	 */
	@Nullable String holder() {
		return this.votes.answers()
			.stream()
			.filter((vote) -> !vote.granted())
			.map(RedisVote::holder)
			.max(Comparator.comparing((holder) -> this.votes.count((vote) -> vote.holder().equals(holder))))
			.map(OwnerToken::toString)
			.orElse(null);
	}

	/**
	 * Return whether the owner has the vote of the first server. Of all owners that have
	 * asked the same servers, one leads.
	 */
	boolean isLeading() {
		return first().granted();
	}

	/**
	 * Return the vote of the first server, in the order that all instances know.
	 */
	RedisVote first() {
		return this.votes.answers()
			.stream()
			.filter(this::mayVote)
			.min(Comparator.comparing((vote) -> vote.run().id()))
			.orElseThrow();
	}

	/**
	 * Return after what time a majority is free if no other lease is renewed, or
	 * {@code null} if that is not known.
	 */
	@Nullable Duration remaining() {
		long[] ends = this.votes.answers()
			.stream()
			.filter((vote) -> !vote.granted() && mayVote(vote))
			.mapToLong((vote) -> (vote.number() < 0) ? Long.MAX_VALUE : vote.number())
			.sorted()
			.toArray();
		long end = ends[this.votes.majority() - granted() - 1];
		return (end < Long.MAX_VALUE) ? Duration.ofMillis(end) : null;
	}

	/**
	 * Return the fencing base of the grant. Each earlier one is known to a server in this
	 * majority, which has answered with a larger one.
	 */
	long fencingBase() {
		return this.votes.answers()
			.stream()
			.filter(RedisVote::granted)
			.mapToLong(RedisVote::number)
			.max()
			.orElseThrow();
	}

	/**
	 * Return whether a majority remembers the fencing base, so that each later one is
	 * larger.
	 */
	boolean isRemembered() {
		long base = fencingBase();
		return this.votes.isMajority((vote) -> vote.granted() && vote.number() == base);
	}

	/**
	 * Return the failure of an election that is not counted.
	 */
	RuntimeException tooFew() {
		int restarted = this.votes.answers().size() - voters();
		return this.votes.tooFew(voters(),
				"could vote" + ((restarted > 0) ? "; " + restarted
						+ " started less than distributed-lock.redlock.restart-delay (" + this.restartDelay + ") ago"
						: ""));
	}

	private int voters() {
		return this.votes.count(this::mayVote);
	}

	private int granted() {
		return this.votes.count((vote) -> vote.granted() && mayVote(vote));
	}

	/** The server counts whole seconds, and its clock may be faster by 1 %. */
	private boolean mayVote(RedisVote vote) {
		return this.restartDelay.isZero() || (vote.run().uptime() - 1) * 990 >= this.restartDelay.toMillis();
	}

}
