// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.redis.AbstractRightsTests;
import io.github.lockstarter.redis.RedisVoter;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.UnusableStoreException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The permissions that a Redis user needs on each of the independent servers.
 */
class RedlockRightsTests extends AbstractRightsTests {

	/** All that a user needs, with locks under the default prefix. */
	private static final List<String> RIGHTS = List.of("~lock:*", "+evalsha", "+eval", "+script|load", "+info", "+get",
			"+set", "+del", "+pexpire", "+pttl");

	private static final OwnerToken OWNER = OwnerToken.random();

	private static final LeaseRequest REQUEST = new LeaseRequest(RedlockServers.KEY, OWNER, Duration.ofSeconds(20));

	private static final LeaseRequest OTHER = new LeaseRequest(RedlockServers.KEY, OwnerToken.random(),
			Duration.ofSeconds(20));

	private static final List<Function<RedisVoter, CompletableFuture<?>>> REQUESTS = List.of(
			(server) -> server.acquire(REQUEST, 1), (server) -> server.acquire(OTHER, 2),
			(server) -> server.renew(List.of(REQUEST), 3), (server) -> server.raise(RedlockServers.KEY, OWNER, 4),
			(server) -> server.release(RedlockServers.KEY, OWNER));

	@Test
	void theseRightsAreEnoughAndEachCommandIsNeeded() {
		allow(RIGHTS);
		redis.command("CONFIG", "RESETSTAT");
		try (RedisVoter server = voter()) {
			Awaitility.await().ignoreExceptions().until(() -> server.run().join() != null);
			redis.command("SCRIPT", "FLUSH");
			REQUESTS.forEach((request) -> assertThat(request.apply(server)).succeedsWithin(Duration.ofMinutes(1)));
		}
		assertEnoughAndNeeded(RIGHTS);
	}

	@Test
	void aMissingRightIsExplainedByTheListOfThisStore() {
		allow(RIGHTS, "+info");
		try (RedisVoter server = voter()) {
			Awaitility.await().ignoreExceptions().until(() -> !server.release(RedlockServers.KEY, OWNER).join());
			assertThat(server.acquire(REQUEST, 1)).failsWithin(Duration.ofMinutes(1))
				.withThrowableThat()
				.havingCause()
				.isInstanceOf(UnusableStoreException.class)
				.withMessageContaining("see 'Redlock' in docs/stores.md");
		}
	}

	private static RedisVoter voter() {
		return new RedisVoter(new LettuceConnectionFactory(ofUser()), "lock:", Duration.ofHours(1),
				Duration.ofSeconds(20));
	}

}
