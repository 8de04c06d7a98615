// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.UnusableStoreException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The keys and values that the scripts read and write, which the contract of a store does
 * not see. Each test sets up the state that leads to a branch.
 */
class RedisLockScriptsTests extends LockScriptHarness {

	private static final Duration QUEUE_RETENTION = Duration.ofSeconds(60);

	/** Further ahead than the clock of the server will be for decades. */
	private static final long FUTURE = 2_000_000_000_000_000L;

	@Nested
	class Acquire {

		@Test
		void aFreeLockIsSetToTheOwnerForTheLeaseTime() {
			grant(owner);
			assertThat(redis.command("GET", LOCK)).isEqualTo(owner.value());
			assertExpiry(LOCK, LEASE_TIME);
		}

		@Test
		void theFencingBaseIsRememberedForItsTime() {
			long base = acquire(owner);
			assertThat(redis.command("GET", FENCE)).isEqualTo(Long.toString(base));
			assertExpiry(FENCE, RedisLockSettings.DEFAULTS.fenceRetention());
			store.release(KEY, owner);
			assertExpiry(FENCE, RedisLockSettings.DEFAULTS.fenceRetention());
			assertThat(redis.command("KEYS", "*")).isEqualTo(FENCE);
		}

		@Test
		void theFencingBaseIsTheClockOfTheServerInMicroseconds() {
			long before = micros();
			assertThat(acquire(owner)).isBetween(before, micros());
		}

		@Test
		void aLastBaseAheadOfTheClockGrowsByOneAndStaysExact() {
			redis.command("SET", FENCE, Long.toString(FUTURE));
			assertThat(acquire(owner)).isEqualTo(FUTURE + 1);
			assertThat(redis.command("GET", FENCE)).isEqualTo("2000000000000001");
			store.release(KEY, owner);
			assertThat(acquire(other)).isEqualTo(FUTURE + 2);
			assertThat(redis.command("GET", FENCE)).isEqualTo("2000000000000002");
		}

		@Test
		void theFencingBaseGrowsWhenRedisHasLostItsData() {
			long base = acquire(owner);
			redis.command("FLUSHALL");
			assertThat(acquire(other)).isGreaterThan(base);
		}

		@Test
		void theSameOwnerGetsALargerBaseWhenItsOwnIsForgotten() {
			long base = acquire(owner);
			redis.command("DEL", FENCE);
			long next = acquire(owner);
			assertThat(next).isGreaterThan(base);
			assertThat(redis.command("GET", FENCE)).isEqualTo(Long.toString(next));
		}

		@Test
		void theSameOwnerLeavesTheQueueAsWell() {
			acquire(owner);
			queueAlone();
			acquire(owner);
			assertThat(redis.command("EXISTS", QUEUE)).isEqualTo("0");
		}

		@Test
		void aRefusalStatesTheRemainingTimeAndChangesNothing() {
			redis.command("SET", LOCK, "somebody-else", "PX", MINUTE);
			AcquireResult.Refusal refusal = refusal(other, false);
			assertThat(refusal.remaining()).isPositive();
			assertThat(refusal.holder()).isEqualTo("a foreign owner 'some…'");
			assertThat(redis.command("GET", LOCK)).isEqualTo("somebody-else");
			assertThat(redis.command("KEYS", "*")).isEqualTo(LOCK);
		}

		@Test
		void theLockOfAnotherProgramIsShownAndNotFreed() {
			redis.command("SET", LOCK, "somebody-else");
			LockInspection.State state = inspection().inspect(KEY).toCompletableFuture().join();
			assertThat(state.holders()).containsExactly(
					new LockInspection.Holder("a foreign owner 'some…'", LockMode.EXCLUSIVE, null, false, null));
			assertThat(inspection().free(KEY, state.fencingToken()).toCompletableFuture().join()).isFalse();
			assertThat(redis.command("GET", LOCK)).isEqualTo("somebody-else");
		}

		@Test
		void aLockWithoutAValueIsShownAsForeign() {
			redis.command("SET", LOCK, "");
			assertThat(inspection().inspect(KEY).toCompletableFuture().join().holders())
				.containsExactly(new LockInspection.Holder("a foreign owner", LockMode.EXCLUSIVE, null, false, null));
		}

		@Test
		void aLockWhoseFencingBaseIsForgottenIsFreedByTheTokenThatIsShown() {
			long base = acquire(owner);
			redis.command("DEL", FENCE);
			assertThat(inspection().free(KEY, base << 12).toCompletableFuture().join()).isFalse();
			LockInspection.State state = inspection().inspect(KEY).toCompletableFuture().join();
			assertThat(inspection().free(KEY, state.fencingToken()).toCompletableFuture().join()).isTrue();
			assertThat(redis.command("EXISTS", LOCK)).isEqualTo("0");
		}

		@Test
		void theFencingBaseOfALockThatIsRenewedIsNotForgotten() {
			acquire(owner);
			redis.command("PEXPIRE", FENCE, MINUTE);
			store.renew(KEY, owner, Duration.ZERO);
			assertExpiry(FENCE, Duration.ofMinutes(1));
			store.renew(KEY, owner, LEASE_TIME);
			assertExpiry(FENCE, RedisLockSettings.DEFAULTS.fenceRetention());
			redis.command("PERSIST", FENCE);
			store.renew(KEY, owner, LEASE_TIME);
			assertThat(redis.command("PTTL", FENCE)).isEqualTo("-1");
		}

		@Test
		void theRemainingTimeOfALockThatNeverEndsIsUnknown() {
			redis.command("SET", LOCK, "somebody-else");
			assertThat(refusal(other, false).remaining()).isNull();
			assertThat(redis.command("PTTL", LOCK)).isEqualTo("-1");
		}

		@Test
		void aRefusedJvmQueuesByItsFirstArrivalAndNotForEver() {
			redis.command("SET", LOCK, "somebody-else", "PX", MINUTE);
			long before = micros();
			String jvm = queueAlone();
			long arrival = arrival(jvm);
			assertThat(arrival).isBetween(before - before % 8, micros());
			assertExpiry(QUEUE, QUEUE_RETENTION);
			redis.command("PEXPIRE", QUEUE, "20000");
			queueAlone();
			assertThat(arrival(jvm)).isEqualTo(arrival);
			assertExpiry(QUEUE, QUEUE_RETENTION);
		}

		@Test
		void aPlaceNamesItsInstance() {
			assertThat(jvm()).matches("\\.orders@web-7f9c/1\\.[A-Za-z0-9_-]{22}");
		}

		@Test
		void aRefusedJvmQueuesBehindArrivalsAheadOfTheClock() {
			redis.command("SET", LOCK, "somebody-else", "PX", MINUTE);
			redis.command("ZADD", QUEUE, Long.toString(2 * FUTURE + 1), "early");
			refusal(other, true);
			assertThat(arrival(redis.command("ZRANGE", QUEUE, "-1", "-1"))).isBetween(FUTURE + 1, FUTURE + 8);
		}

		@Test
		void aFreeLockIsReservedForTheJvmThatWasNotified() {
			redis.command("ZADD", QUEUE, "3", "told");
			redis.command("SET", TURN, "told", "PX", MINUTE);
			AcquireResult.Refusal refusal = refusal(other, true);
			assertThat(refusal.remaining()).isPositive();
			assertThat(refusal.holder()).isNull();
			assertThat(redis.command("ZRANGE", QUEUE, "0", "-1")).startsWith("told\n");
			assertThat(redis.command("EXISTS", LOCK)).isEqualTo("0");
		}

		@Test
		void theJvmThatWasNotifiedGetsTheLockAndItsTurnIsOver() {
			redis.command("SET", LOCK, "somebody-else", "PX", MINUTE);
			String jvm = queueAlone();
			redis.command("DEL", LOCK);
			redis.command("SET", TURN, jvm, "PX", MINUTE);
			acquire(owner);
			assertThat(redis.command("EXISTS", TURN, QUEUE)).isEqualTo("0");
		}

	}

	@Nested
	class Renew {

		@Test
		void leasesOfAllLengthsAndModesAreRenewedByAFewScripts() {
			List<LeaseRequest> extensions = new ArrayList<>();
			Duration shorter = LEASE_TIME.dividedBy(2);
			for (int i = 0; i < 10; i++) {
				OwnerToken reader = OwnerToken.random(LockMode.READ);
				store.acquire(LockKey.of("mixed", i), owner, shorter, false);
				store.acquire(LockKey.of("shared", i), reader, shorter, false);
				extensions.add(new LeaseRequest(LockKey.of("mixed", i), owner, (i < 5) ? LEASE_TIME : Duration.ZERO));
				extensions.add(new LeaseRequest(LockKey.of("shared", i), reader, LEASE_TIME));
				extensions.add(new LeaseRequest(LockKey.of("mixed", i), other, LEASE_TIME));
			}
			List<Boolean> answers = new ArrayList<>();
			List<String> commands = redis.monitor(() -> store.store()
				.renew(extensions)
				.forEach((answer) -> answers.add(answer.toCompletableFuture().join())));
			assertThat(commands.stream().filter("EVALSHA"::equalsIgnoreCase)).hasSize(3);
			for (int i = 0; i < 30; i++) {
				assertThat(answers.get(i)).isEqualTo(i % 3 != 2);
			}
			assertExpiry("lock:{mixed:4}", LEASE_TIME);
			assertExpiry("lock:{mixed:5}", shorter);
			assertExpiry("lock:{shared:5}", LEASE_TIME);
		}

	}

	@Nested
	class Release {

		@Test
		void theFirstWaiterIsNotifiedWhichLockIsFreeAndKeepsItsPlaceAndPrecedence() {
			grant(owner);
			try (Waiter second = new Waiter("second", 4); Waiter first = new Waiter("first", 2)) {
				assertThat(store.release(KEY, owner)).isTrue();
				assertThat(first.read()).isEqualTo("stock:1001");
				assertThat(redis.command("EXISTS", LOCK)).isEqualTo("0");
				assertThat(queue()).isEqualTo("first 3 second 4");
				assertThat(redis.command("GET", TURN)).isEqualTo("first");
				assertExpiry(TURN, TURN_TIME);
			}
		}

		@Test
		void theLockIsKeptForAsLongAsADistantWaiterNeeds() {
			grant(owner);
			try (Waiter far = new Waiter(".far", 16 + 2 * 6)) {
				store.release(KEY, owner);
				assertExpiry(TURN, TURN_TIME.multipliedBy(64));
			}
		}

		@Test
		void aWaiterThatComesTooLateIsKeptTheLockForLongerNextTime() {
			redis.command("SET", LOCK, "somebody-else", "PX", MINUTE);
			String jvm = queueAlone();
			long ticket = 16 * (arrival(jvm) / 8);
			for (int need = 0; need < 7; need++) {
				redis.command("ZADD", QUEUE, Long.toString(ticket + 2 * need + 1), jvm);
				queueAlone();
				long next = Long.parseLong(redis.command("ZSCORE", QUEUE, jvm)) - ticket;
				assertThat(next).isEqualTo(2L * Math.min(need + 1, 6));
			}
		}

		@Test
		void aWaiterThatWasNotifiedAndHasNotComeIsPassedOverAndKeepsItsPlace() {
			grant(owner);
			try (Waiter second = new Waiter("second", 4); Waiter paused = new Waiter("paused", 3)) {
				assertThat(store.release(KEY, owner)).isTrue();
				assertThat(second.read()).isEqualTo("stock:1001");
				assertThat(queue()).isEqualTo("paused 3 second 5");
			}
		}

		@Test
		void nobodyLooksBehindManyThatWereNotifiedAndHaveNotCome() {
			grant(owner);
			List<Waiter> paused = IntStream.range(0, 20).mapToObj((i) -> new Waiter("paused" + i, 2 * i + 1)).toList();
			try (Waiter last = new Waiter("last", 200)) {
				assertThat(store.release(KEY, owner)).isTrue();
				assertThat(last.read()).isEqualTo("stock:1001");
				assertThat(redis.command("ZCARD", QUEUE)).isEqualTo("17");
			}
			paused.forEach(Waiter::close);
		}

		@Test
		void deadWaitersAreForgottenThoughTheyWereNotified() {
			grant(owner);
			redis.command("ZADD", QUEUE, "2", "dead", "3", "dead-too", "8", "dead-behind");
			try (Waiter waiter = new Waiter("alive", 6)) {
				assertThat(store.release(KEY, owner)).isTrue();
				assertThat(waiter.read()).isEqualTo("stock:1001");
				assertThat(queue()).isEqualTo("alive 7 dead-behind 8");
			}
		}

		@Test
		void theReleasingJvmQueuesByItsArrivalAndNotForEver() {
			grant(owner);
			try (Waiter waiter = new Waiter("waiting", 2)) {
				long before = micros();
				assertThat(store.release(KEY, owner)).isTrue();
				refusal(other, true);
				assertThat(arrival(redis.command("ZRANGE", QUEUE, "-1", "-1"))).isBetween(before - before % 8,
						micros());
				assertExpiry(QUEUE, QUEUE_RETENTION);
			}
		}

	}

	@Nested
	class Withdraw {

		@Test
		void aQueueOfDeadWaitersIsRemoved() {
			redis.command("ZADD", QUEUE, "2", "dead", "4", "dead-too");
			store.withdraw(KEY);
			assertThat(redis.command("DBSIZE")).isEqualTo("0");
			store.withdraw(KEY);
			assertThat(redis.command("DBSIZE")).isEqualTo("0");
		}

	}

	@Nested
	class Server {

		@Test
		void everyScriptIsSentAgainAfterTheServerForgotIt() {
			redis.command("SCRIPT", "FLUSH");
			grant(owner);
			redis.command("SCRIPT", "FLUSH");
			assertThat(store.renew(KEY, owner, LEASE_TIME)).isTrue();
			redis.command("SCRIPT", "FLUSH");
			assertThat(store.release(KEY, owner)).isTrue();
			redis.command("ZADD", QUEUE, "2", "dead");
			redis.command("SCRIPT", "FLUSH");
			store.withdraw(KEY);
			assertThat(redis.command("EXISTS", QUEUE)).isEqualTo("0");
		}

		@Test
		void aKeyOfAnotherTypeIsNamed() {
			redis.command("RPUSH", LOCK, "an element");
			assertThatExceptionOfType(UnusableStoreException.class).isThrownBy(() -> acquire(owner))
				.withMessageContaining("'" + LOCK + "'")
				.withMessageContaining("distributed-lock.key-prefix");
			assertThat(store.renew(KEY, owner, LEASE_TIME)).isFalse();
			assertThatExceptionOfType(UnusableStoreException.class).isThrownBy(() -> store.release(KEY, owner))
				.withMessageContaining("'" + LOCK + "'");
			assertThat(redis.command("LRANGE", LOCK, "0", "-1")).isEqualTo("an element");
		}

		@Test
		void aCompanionOfAnotherTypeIsNamed() {
			redis.command("RPUSH", QUEUE, "an element");
			assertThatExceptionOfType(UnusableStoreException.class).isThrownBy(() -> store.withdraw(KEY))
				.withMessageContaining("or a companion of it");
		}

	}

	private static long acquire(OwnerToken owner) {
		return grant(owner).fencingBase();
	}

	/**
	 * Put the JVM of the store into the queue as the only one.
	 * @return the id of the JVM
	 */
	private String queueAlone() {
		refusal(this.other, true);
		return redis.command("ZRANGE", QUEUE, "0", "-1");
	}

	private static long arrival(String jvm) {
		return Long.parseLong(redis.command("ZSCORE", QUEUE, jvm)) / 16 * 8;
	}

}
