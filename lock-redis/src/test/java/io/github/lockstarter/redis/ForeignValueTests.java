// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Another program holds the lock with a value as long as Redis permits. Only its
 * beginning is shown, so only that is sent.
 */
class ForeignValueTests extends LockScriptHarness {

	private static final int LENGTH = 1_000_000;

	private static final String LONG = "x".repeat(LENGTH);

	private static final String SHOWN = "a foreign owner 'xxxx…'";

	@AutoClose
	private final RedisVoter voter = new RedisVoter(new LettuceConnectionFactory("127.0.0.1", redis.port()), "lock:",
			Duration.ofHours(1), Duration.ofSeconds(10));

	@BeforeEach
	void connect() {
		this.voter.run().join();
		redis.command("SET", LOCK, LONG);
	}

	@ParameterizedTest
	@EnumSource(LockMode.class)
	void aLongForeignValueIsNotSentToWhoIsRefused(LockMode mode) {
		mustSendLittle(() -> assertThat(refusal(OwnerToken.random(mode), true).holder()).as("holder").isEqualTo(SHOWN));
	}

	@Test
	void aLongForeignReaderIsNotSentToWhoIsRefused() {
		redis.command("SET", LOCK, "shared");
		redis.command("ZADD", READERS, Long.toString(millis() + 1_000_000), LONG);
		mustSendLittle(() -> assertThat(refusal(this.owner, false).holder()).isEqualTo(SHOWN));
		mustSendLittle(() -> assertThat(refusal(OwnerToken.random(LockMode.FAIR), false).holder()).isEqualTo(SHOWN));
		mustSendLittle(this::mustBeInspected);
	}

	@Test
	void aLongForeignValueIsNotSentToWhoLooksAtTheLock() {
		mustSendLittle(this::mustBeInspected);
	}

	private void mustBeInspected() {
		assertThat(inspection().inspect(KEY).toCompletableFuture().join().holders()).singleElement()
			.satisfies((holder) -> assertThat(holder.name()).isEqualTo(SHOWN));
		assertThat(inspection().free(KEY, 0).toCompletableFuture().join()).isFalse();
	}

	@Test
	void aLongForeignValueIsNotSentByAServerOfRedlock() {
		mustSendLittle(() -> {
			LeaseRequest request = new LeaseRequest(KEY, this.owner, LEASE_TIME);
			assertThat(this.voter.acquire(request, 1).join().holder()).hasToString(SHOWN);
			assertThat(this.voter.inspect(KEY).join().owner()).hasToString(SHOWN);
		});
	}

	@Test
	void theLongestValueOfAnOwnerIsSentAsAWhole() {
		String instance = "i".repeat(64);
		String longest = OwnerToken.random(instance, LockMode.EXCLUSIVE).value();
		redis.command("SET", LOCK, longest + ":kept");
		assertThat(refusal(this.owner, false).holder()).isEqualTo(instance);
		redis.command("SET", LOCK, longest + ":" + Long.MAX_VALUE + ":");
		assertThat(this.voter.inspect(KEY).join().owner().value()).isEqualTo(longest);
	}

	private static void mustSendLittle(Runnable requests) {
		long before = sent();
		requests.run();
		assertThat(sent() - before).as("bytes that the server has sent").isLessThan(LENGTH / 10);
	}

	private static long sent() {
		Matcher bytes = Pattern.compile("total_net_output_bytes:(\\d+)").matcher(redis.command("INFO", "stats"));
		assertThat(bytes.find()).isTrue();
		return Long.parseLong(bytes.group(1));
	}

}
