// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.servers.SharedServers.RedisDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The fencing base under clocks that no server should have.
 */
class FenceScriptTests {

	private static final String FENCE = "lock:{stock:1001}:fence";

	private static final String SCRIPT = """
			local server = redis
			local redis = {}
			function redis.call(name, ...)
			  if name == 'TIME' then
			    return {ARGV[1], '0'}
			  end
			  return server.call(name, ...)
			end
			%s
			return string.format('%%.0f', mint(KEYS[1], '60000'))
			""";

	private static final Instant NOW = Instant.parse("2026-11-21T12:00:00Z");

	private static final Instant LAST_YEAR = Instant.parse("2095-01-01T00:00:00Z");

	private static final Instant TOO_LATE = Instant.parse("2300-01-01T00:00:00Z");

	/**
	 * The bound of the fencing base: the bits of a token without its sign and the hold
	 * number.
	 */
	private static final long BOUND = 1L << 51;

	private static final RedisDatabase redis = SharedServers.redis();

	@BeforeEach
	void empty() {
		redis.command("FLUSHDB");
	}

	@Test
	void untilTheBoundItIsTheTime() throws Exception {
		Instant epoch = Instant.parse("2024-01-01T00:00:00Z");
		assertThat(mint(LAST_YEAR)).isEqualTo((LAST_YEAR.getEpochSecond() - epoch.getEpochSecond()) * 1_000_000);
		assertThat(redis.command("PTTL", FENCE)).isNotEqualTo("-1");
	}

	@Test
	void aClockBeyondTheBoundCountsBelowIt() throws Exception {
		long first = mint(TOO_LATE);
		assertThat(first).isBetween(1L, BOUND - 1);
		long second = mint(TOO_LATE.plusSeconds(1));
		assertThat(second).isGreaterThan(first).isLessThan(BOUND);
		assertThat(second << 12).isPositive();
		assertThat(redis.command("GET", FENCE)).isEqualTo(Long.toString(second));
	}

	@Test
	void aClockThatJumpsFarAheadAndBackLetsItGrow() throws Exception {
		long before = mint(NOW);
		long ahead = mint(TOO_LATE);
		long after = mint(NOW.plusSeconds(60));
		long later = mint(NOW.plusSeconds(120));
		assertThat(new long[] { before, ahead, after, later }).isSorted().doesNotHaveDuplicates();
		assertThat(later << 12).isPositive();
	}

	@Test
	void whereTheClockIsTooFarAheadTheLastOneIsNotForgotten() throws Exception {
		mint(TOO_LATE);
		assertThat(redis.command("PTTL", FENCE)).isEqualTo("-1");
		mint(NOW);
		assertThat(redis.command("PTTL", FENCE)).isNotEqualTo("-1");
	}

	@Test
	void aClockBeforeTheFirstDayCountsFromOne() throws Exception {
		assertThat(mint(Instant.EPOCH)).isEqualTo(1);
		assertThat(mint(Instant.EPOCH)).isEqualTo(2);
	}

	private static long mint(Instant clock) throws IOException {
		try (InputStream fence = LockScript.class.getResourceAsStream("fence.lua")) {
			String script = SCRIPT.formatted(new String(fence.readAllBytes(), StandardCharsets.UTF_8));
			return Long.parseLong(redis.command("EVAL", script, "1", FENCE, Long.toString(clock.getEpochSecond())));
		}
	}

}
