// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.backend.LockAttempt;
import io.github.lockstarter.backend.LockGrant;
import io.github.lockstarter.backend.LockRefusal;
import io.github.lockstarter.backend.OwnerToken;
import io.github.lockstarter.backend.ReleaseOutcome;
import io.github.lockstarter.backend.UnusableStoreException;
import io.github.lockstarter.testsupport.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What the scripts leave in Redis, branch by branch.
 */
class RedisLockScriptsTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final String LOCK = "lock:{stock:1001}";

	private static final String FENCE = LOCK + ":fence";

	private static final String QUEUE = LOCK + ":queue";

	private static final Duration LEASE = Duration.ofSeconds(30);

	@AutoClose
	private static final EmbeddedRedis redis = EmbeddedRedis.start();

	private final LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", redis.port());

	private final OwnerToken owner = OwnerToken.random();

	private RedisLockBackend backend;

	@BeforeEach
	void open() {
		redis.command("FLUSHALL");
		this.backend = new RedisLockBackend(this.connections, "lock:", Duration.ofHours(1));
	}

	@AfterEach
	void close() {
		this.backend.close();
	}

	@Test
	void aGrantSetsTheOwnerTokenForTheLeaseAndRemembersTheFencingBase() {
		LockGrant grant = grant();
		assertThat(redis.command("GET", LOCK)).isEqualTo(this.owner.value());
		assertThat(millis(LOCK)).isBetween(29_000L, 30_000L);
		assertThat(redis.command("GET", FENCE)).isEqualTo(Long.toString(grant.fencingBase()));
		assertThat(millis(FENCE)).isBetween(3_599_000L, 3_600_000L);
		assertThat(redis.command("KEYS", "*").lines()).containsExactlyInAnyOrder(LOCK, FENCE);
	}

	@Test
	void aFencingBaseAheadOfTheClockGrowsByOneAndStaysExact() {
		redis.command("SET", FENCE, "123456789012345");
		assertThat(grant().fencingBase()).isEqualTo(123456789012346L);
		assertThat(redis.command("GET", FENCE)).isEqualTo("123456789012346");
	}

	@Test
	void fencingBasesGrowWhenRedisHasLostItsData() {
		long before = grant().fencingBase();
		redis.command("FLUSHALL");
		assertThat(grant().fencingBase()).isGreaterThan(before);
	}

	@Test
	void theSameRequestAfterTheFencingBaseWasLostGetsALargerOne() {
		long before = grant().fencingBase();
		redis.command("DEL", FENCE);
		assertThat(grant().fencingBase()).isGreaterThan(before);
		assertThat(redis.command("EXISTS", FENCE)).isEqualTo("1");
	}

	@Test
	void aRefusalChangesNothingUnlessTheInstanceWaits() {
		redis.command("SET", LOCK, "foreign", "PX", "5000");
		assertThat(acquire(false)).isInstanceOf(LockRefusal.class);
		assertThat(redis.command("GET", LOCK)).isEqualTo("foreign");
		assertThat(redis.command("KEYS", "*")).isEqualTo(LOCK);
		assertThat(acquire(true)).isInstanceOf(LockRefusal.class);
		assertThat(redis.command("ZCARD", QUEUE)).isEqualTo("1");
		assertThat(millis(QUEUE)).isBetween(59_000L, 60_000L);
	}

	@Test
	void anInstanceThatAsksAgainKeepsItsPlace() {
		redis.command("SET", LOCK, "foreign", "PX", "5000");
		acquire(true);
		String place = redis.command("ZRANGE", QUEUE, "0", "-1", "WITHSCORES");
		acquire(true);
		assertThat(redis.command("ZRANGE", QUEUE, "0", "-1", "WITHSCORES")).isEqualTo(place);
	}

	@Test
	void aForeignHolderWithoutAnEndHasNoRemainingTime() {
		redis.command("SET", LOCK, "foreign");
		assertThat(acquire(false)).isEqualTo(new LockRefusal(null));
	}

	@Test
	void aGrantTakesTheInstanceOutOfTheQueue() {
		redis.command("SET", LOCK, "foreign");
		acquire(true);
		redis.command("DEL", LOCK);
		grant();
		assertThat(redis.command("EXISTS", QUEUE)).isEqualTo("0");
	}

	@Test
	void aReleaseLeavesOnlyTheFencingBase() {
		grant();
		assertThat(this.backend.release(KEY, this.owner, false)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(redis.command("KEYS", "*")).isEqualTo(FENCE);
	}

	@Test
	void aReleaseSkipsInstancesThatNobodyHears() {
		grant();
		redis.command("ZADD", QUEUE, "1", "dead", "2", "cut-off");
		assertThat(this.backend.release(KEY, this.owner, true)).isEqualTo(ReleaseOutcome.RELEASED);
		assertThat(redis.command("EXISTS", QUEUE)).isEqualTo("0");
	}

	@Test
	void anInstanceThatGivesUpWhileTheLockIsTakenOnlyLeavesTheQueue() {
		redis.command("SET", LOCK, "foreign");
		acquire(true);
		redis.command("ZADD", QUEUE, "+inf", "other");
		this.backend.withdraw(KEY);
		assertThat(redis.command("ZRANGE", QUEUE, "0", "-1")).isEqualTo("other");
	}

	@Test
	void anInstanceThatGivesUpAfterItWasToldSkipsThoseThatNobodyHears() {
		redis.command("ZADD", QUEUE, "1", "dead");
		this.backend.withdraw(KEY);
		assertThat(redis.command("EXISTS", QUEUE)).isEqualTo("0");
	}

	@Test
	void aRenewalDoesNotBringALostLockBack() {
		grant();
		redis.command("DEL", LOCK);
		assertThat(this.backend.renew(KEY, this.owner, LEASE)).isFalse();
		assertThat(redis.command("EXISTS", LOCK)).isEqualTo("0");
	}

	@Test
	void scriptsThatTheServerForgotAreSentAgain() {
		grant();
		redis.command("SCRIPT", "FLUSH");
		assertThat(this.backend.renew(KEY, this.owner, LEASE)).isTrue();
		redis.command("SCRIPT", "FLUSH");
		assertThat(acquire(false)).isInstanceOf(LockGrant.class);
		redis.command("SCRIPT", "FLUSH");
		this.backend.withdraw(KEY);
		redis.command("SCRIPT", "FLUSH");
		assertThat(this.backend.release(KEY, this.owner, false)).isEqualTo(ReleaseOutcome.RELEASED);
	}

	@Test
	void aKeyOfSomethingElseIsLeftAloneWithAClearMessage() {
		redis.command("LPUSH", LOCK, "value");
		assertThatExceptionOfType(UnusableStoreException.class).isThrownBy(() -> acquire(false))
			.withMessageContaining("'" + LOCK + "'")
			.withMessageContaining("distributed-lock.key-prefix");
		assertThat(redis.command("TYPE", LOCK)).isEqualTo("list");
	}

	private LockGrant grant() {
		return (LockGrant) acquire(false);
	}

	private LockAttempt acquire(boolean queue) {
		return this.backend.acquire(KEY, this.owner, LEASE, queue);
	}

	private static long millis(String key) {
		return Long.parseLong(redis.command("PTTL", key));
	}

}
