// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.redis.RedisVote;
import io.github.lockstarter.store.OwnerToken;

import static org.assertj.core.api.Assertions.assertThat;

class ElectionTests {

	private static final RedisVote.Run RUN = new RedisVote.Run("server", "run", 100);

	private static final RedisVote GRANT = new RedisVote(RUN, true, 7, owner(""));

	private static final RedisVote REFUSAL = new RedisVote(RUN, false, 20, owner("other"));

	private static final Duration NO_DELAY = Duration.ZERO;

	private final OwnerToken owner = OwnerToken.random();

	@Test
	void aMajorityOfGrantsDecides() {
		assertThat(election(5, GRANT, REFUSAL, GRANT).isDecided()).isFalse();
		assertThat(election(5, GRANT, REFUSAL, GRANT, GRANT)).matches(Election::isDecided).matches(Election::isWon);
	}

	@Test
	void aMajorityThatIsOutOfReachDecides() {
		assertThat(election(5, REFUSAL, REFUSAL).isDecided()).isFalse();
		assertThat(election(5, REFUSAL, REFUSAL, REFUSAL)).matches(Election::isDecided)
			.matches(Election::isCounted)
			.matches(Election::isHeld);
	}

	@Test
	void tooFewVotesSayNothingAboutOtherOwners() {
		assertThat(election(5, REFUSAL, GRANT).isCounted()).isFalse();
	}

	@Test
	void aServerThatWasJustRestartedHasNoVote() {
		Duration delay = Duration.ofSeconds(60);
		assertThat(new Election(votes(3, GRANT, grant(61)), this.owner, delay).isWon()).isFalse();
		assertThat(new Election(votes(3, GRANT, grant(62)), this.owner, delay).isWon()).isTrue();
		assertThat(new Election(votes(3, GRANT, grant(0)), this.owner, NO_DELAY).isWon()).isTrue();
	}

	@Test
	void votesThatAreSplitAreAwaited() {
		assertThat(election(5, vote("a", "one"), vote("b", "two"), vote("c", "three"), vote("d", "")).isDecided())
			.isFalse();
	}

	@Test
	void theOwnerLeadsThatHasTheVoteOfTheFirstServer() {
		assertThat(election(3, vote("b", "other"), vote("a", "")).isLeading()).isTrue();
		assertThat(election(3, vote("b", ""), vote("a", "other")).isLeading()).isFalse();
	}

	@Test
	void aServerWithoutAVoteIsNotTheFirst() {
		RedisVote restarted = new RedisVote(new RedisVote.Run("server", "a", 0), false, 20, owner("other"));
		Answers<RedisVote> votes = votes(3, restarted, vote("b", ""), vote("c", "another"));
		assertThat(new Election(votes, this.owner, Duration.ofSeconds(60)).isLeading()).isTrue();
	}

	private static RedisVote vote(String server, String holder) {
		return new RedisVote(new RedisVote.Run(server, server, 100), holder.isEmpty(), 7, owner(holder));
	}

	private static OwnerToken owner(String value) {
		return new OwnerToken(value, LockMode.EXCLUSIVE);
	}

	private static RedisVote grant(long uptime) {
		return new RedisVote(new RedisVote.Run("server", "run", uptime), true, 7, owner(""));
	}

	private Election election(int servers, RedisVote... votes) {
		return new Election(votes(servers, votes), this.owner, NO_DELAY);
	}

	private static Answers<RedisVote> votes(int servers, RedisVote... votes) {
		return new Answers<>(servers, List.of(votes), List.of());
	}

}
