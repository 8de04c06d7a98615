// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.servers.Network;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One server that votes on locks.
 */
@ExtendWith(OutputCaptureExtension.class)
class RedisVoterTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final String LOCK = "lock:{stock:1001}";

	private static final String FENCE = "lock:{stock:1001}:fence";

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	/** More than a voter repeats. */
	private static final int MANY = 20_000;

	@AutoClose
	private final RedisServer redis = RedisServer.start();

	@AutoClose
	private final RedisVoter voter = new RedisVoter(new LettuceConnectionFactory("127.0.0.1", this.redis.port()),
			"lock:", Duration.ofHours(1), Duration.ofSeconds(10));

	private final OwnerToken owner = OwnerToken.random();

	private final OwnerToken other = OwnerToken.random();

	@Test
	void itKnowsItsRun() {
		RedisVote.Run run = this.voter.run().join();
		assertThat(this.redis.command("INFO", "server")).contains("run_id:" + run.id());
		assertThat(run.address()).isEqualTo("127.0.0.1:" + this.redis.port() + ", database 0");
		assertThat(run.uptime()).isNotNegative();
	}

	@Test
	void aFencingBaseIsTheProposedOneOrLarger() {
		assertThat(acquire(this.owner, 1000).number()).isEqualTo(1000);
		release();
		assertThat(acquire(this.owner, 500).number()).isEqualTo(1001);
		assertThat(acquire(this.owner, 2000).number()).as("the same owner again").isEqualTo(1001);
		release();
		assertThat(acquire(this.owner, 2000).number()).isEqualTo(2000);
	}

	@Test
	void aRefusalNamesTheOwner() {
		acquire(this.owner, 1);
		RedisVote vote = acquire(this.other, 2);
		assertThat(vote.granted()).isFalse();
		assertThat(vote.holder()).isEqualTo(this.owner);
		String secret = this.owner.value().substring(this.owner.value().lastIndexOf('.'));
		assertThat(vote.toString()).doesNotContain(secret);
		assertThat(this.voter.inspect(KEY).join().toString()).doesNotContain(secret);
		assertThat(vote.number()).isPositive();
	}

	@Test
	void onlyTheOwnerRaisesTheFencingBase() {
		acquire(this.owner, 1000);
		assertThat(this.voter.raise(KEY, this.other, 3000).join()).isFalse();
		assertThat(this.redis.command("GET", FENCE)).isEqualTo("1000");
		assertThat(this.voter.raise(KEY, this.owner, 2000).join()).isTrue();
		assertThat(this.voter.raise(KEY, this.owner, 1500).join()).isTrue();
		assertThat(this.redis.command("GET", FENCE)).isEqualTo("2000");
		assertThat(Long.parseLong(this.redis.command("PTTL", FENCE))).isPositive();
	}

	@Test
	void aRenewalThatTakesAFreeLockRaisesTheFencingBase() {
		LeaseRequest request = new LeaseRequest(KEY, this.owner, Duration.ofMinutes(1));
		assertThat(this.voter.renew(List.of(request), 1000).join()).as("counts from the next time on")
			.containsExactly(false);
		assertThat(this.voter.renew(List.of(request), 2000).join()).containsExactly(true);
		release();
		assertThat(acquire(this.other, 500).number()).isEqualTo(1001);
	}

	@Test
	void aRenewalKeepsTheFencingBaseFromBeingForgotten() {
		acquire(this.owner, 1000);
		this.redis.command("PEXPIRE", FENCE, "60000");
		this.voter.renew(List.of(new LeaseRequest(KEY, this.owner, Duration.ofMinutes(1))), 2000).join();
		assertThat(Long.parseLong(this.redis.command("PTTL", FENCE))).isGreaterThan(60_000);
	}

	@Test
	void aLateWithdrawalOfAnAttemptDoesNotAffectTheNext() {
		acquire(this.owner, 1);
		acquire(this.owner, 2);
		assertThat(this.voter.release(KEY, this.owner, 1).join()).isFalse();
		assertThat(acquire(this.other, 3).granted()).isFalse();
		assertThat(this.voter.release(KEY, this.owner, 2).join()).isTrue();
		assertThat(acquire(this.other, 3).granted()).isTrue();
	}

	@Test
	@Tag("clock")
	void aServerIsSilentUntilItAnswers() {
		try (RedisVoter impatient = new RedisVoter(new LettuceConnectionFactory("127.0.0.1", this.redis.port()),
				"lock:", Duration.ofHours(1), Duration.ofSeconds(1))) {
			awaitConnected(impatient);
			this.redis.pause();
			Awaitility.await().until(() -> {
				CompletableFuture<RedisVote.Run> unanswered = impatient.run();
				return impatient.isSilent() && !unanswered.isDone();
			});
			this.redis.resume();
			awaitConnected(impatient);
			Awaitility.await().until(() -> !impatient.isSilent());
		}
	}

	@Test
	@FullProfileOnly
	void requestsToASilentServerDoNotPileUp() {
		awaitConnected(this.voter);
		this.redis.pause();
		List<CompletableFuture<Boolean>> requests = Stream.generate(() -> this.voter.release(KEY, this.owner))
			.limit(40_000)
			.toList();
		// On a busy machine, some time out before they would be refused
		assertThat(CompletableFuture.allOf(requests.toArray(CompletableFuture[]::new))).failsWithin(PATIENCE);
		// On a busy machine, some time out before they would be refused
		assertThat(requests).anyMatch(RedisVoterTests::isRefused);
		this.redis.resume();
		Awaitility.await().ignoreExceptions().until(() -> acquire(this.owner, 1).granted());
	}

	@Test
	@FullProfileOnly
	void releasesAreRepeatedHoweverManyAttemptsHaveNotArrived() throws Exception {
		try (Network network = Network.to(this.redis.port()); RedisVoter beyond = voter(network)) {
			awaitConnected(beyond);
			List<LockKey> held = IntStream.range(0, 50).mapToObj((i) -> LockKey.of("held", i)).toList();
			held.forEach((key) -> assertThat(acquireLong(beyond, key, 1).join().granted()).isTrue());
			disconnect(network, beyond);
			for (int i = 0; i < MANY; i++) {
				acquireLong(beyond, KEY, 2 + i);
				beyond.release(KEY, this.owner, 2 + i);
			}
			held.forEach((key) -> beyond.release(key, this.owner));
			network.heal();
			Awaitility.await().until(() -> this.redis.command("KEYS", "lock:{held:*}").isBlank());
		}
	}

	@Test
	void theReleaseOfAnAttemptWhoseAnswerWasLostIsRepeated() throws Exception {
		try (Network network = Network.to(this.redis.port()); RedisVoter beyond = voter(network)) {
			awaitConnected(beyond);
			network.loseAnswerTo(this.owner.value());
			assertThat(acquireLong(beyond, KEY, 1)).failsWithin(PATIENCE);
			assertThat(this.redis.command("EXISTS", LOCK)).isEqualTo("1");
			disconnect(network, beyond);
			assertThat(acquireLong(beyond, KEY, 2)).failsWithin(PATIENCE);
			beyond.release(KEY, this.owner, 2);
			beyond.release(KEY, this.owner, 1);
			network.heal();
			Awaitility.await().until(() -> this.redis.command("EXISTS", LOCK).equals("0"));
		}
	}

	@Test
	@FullProfileOnly
	void releasesThatAreNotRepeatedAreLoggedOnceForEachOutage(CapturedOutput output) throws Exception {
		try (Network network = Network.to(this.redis.port()); RedisVoter beyond = voter(network)) {
			for (int outage = 1; outage <= 2; outage++) {
				awaitConnected(beyond);
				disconnect(network, beyond);
				for (int i = 0; i < MANY; i++) {
					beyond.release(KEY, this.owner);
				}
				int lines = outage;
				// Not those of the servers of other tests, which may come late
				String line = ":" + network.port() + ", database 0 has failed so many releases";
				Awaitility.await().until(() -> output.getOut().split(line, -1).length == lines + 1);
				network.heal();
			}
		}
	}

	private static RedisVoter voter(Network network) {
		return new RedisVoter(new LettuceConnectionFactory("127.0.0.1", network.port()), "lock:", Duration.ofHours(1),
				PATIENCE);
	}

	/**
	 * The first request has to wait for the connection, and may fail on a busy machine.
	 */
	private static void awaitConnected(RedisVoter voter) {
		Awaitility.await().ignoreExceptions().until(() -> voter.run().join() != null);
	}

	private CompletableFuture<RedisVote> acquireLong(RedisVoter voter, LockKey key, long attempt) {
		return voter.acquire(new LeaseRequest(key, this.owner, Duration.ofHours(1)), attempt);
	}

	/** Wait until the connection rejects requests instead of sending them. */
	private static void disconnect(Network network, RedisVoter voter) {
		network.disconnect();
		Awaitility.await().until(() -> voter.run().handle((run, ex) -> ex != null && ScriptErrors.isUnsent(ex)).join());
	}

	private static boolean isRefused(CompletableFuture<Boolean> request) {
		return request.handle((released, ex) -> String.valueOf(ex).contains("exceeded")).join();
	}

	private RedisVote acquire(OwnerToken owner, long attempt) {
		return this.voter.acquire(new LeaseRequest(KEY, owner, Duration.ofSeconds(20)), attempt).join();
	}

	private void release() {
		assertThat(this.voter.release(KEY, this.owner).join()).isTrue();
	}

}
