// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.ReleaseOutcome;
import io.github.lockstarter.store.UnusableStoreException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Every branch of the scripts for readers. Each test sets up the state that leads to the
 * branch.
 */
class RedisSharedLockScriptsTests extends LockScriptHarness {

	@Nested
	class Acquire {

		@Test
		void aFreeLockIsSetToSharedAndTheReaderNamed() {
			grant(reader);
			assertThat(redis.command("GET", LOCK)).isEqualTo("shared");
			assertThat(redis.command("ZRANGE", READERS, "0", "-1")).isEqualTo(reader.value());
			assertThat(ends(reader)).isBetween(millis() + 10_000, millis() + LEASE_TIME.toMillis());
		}

		@Test
		void theLockAndItsReadersLiveAsLongAsTheLongestShare() {
			grant(reader, Duration.ofSeconds(30));
			grant(otherReader, Duration.ofSeconds(5));
			assertThat(expiry(LOCK)).isEqualTo(ends(reader)).isEqualTo(expiry(READERS));
		}

		@Test
		void aLongerShareMakesTheLockLiveForLonger() {
			grant(reader, Duration.ofSeconds(5));
			grant(otherReader, Duration.ofSeconds(30));
			assertThat(expiry(LOCK)).isEqualTo(ends(otherReader)).isEqualTo(expiry(READERS));
		}

		@Test
		void readersOfALockThatIsGoneAreForgotten() {
			redis.command("ZADD", READERS, Long.toString(millis() + 60_000), "of-a-lock-that-was-deleted");
			grant(reader);
			assertThat(redis.command("ZRANGE", READERS, "0", "-1")).isEqualTo(reader.value());
			assertThat(expiry(READERS)).isEqualTo(ends(reader));
		}

		@Test
		void readersWhoseTimeIsOverAreForgotten() {
			grant(reader);
			redis.command("ZADD", READERS, Long.toString(millis() - 1), "dead");
			grant(otherReader);
			assertThat(redis.command("ZSCORE", READERS, "dead")).isEqualTo("(nil)");
		}

		@Test
		void anExclusiveHolderIsInTheWay() {
			redis.command("SET", LOCK, "a-writer", "PX", "5000");
			assertThat(refusal(reader, false).remaining()).isBetween(Duration.ofMillis(1), Duration.ofSeconds(5));
			assertThat(redis.command("DBSIZE")).isEqualTo("1");
		}

		@Test
		void anExclusiveHolderIsInTheWayThoughReadersWereLeft() {
			redis.command("SET", LOCK, "a-writer", "PX", "5000");
			redis.command("ZADD", READERS, Long.toString(millis() + 60_000), "of-a-lock-that-was-deleted");
			refusal(reader, false);
			assertThat(redis.command("GET", LOCK)).isEqualTo("a-writer");
		}

		@Test
		void aRefusedReaderQueuesAsOne() {
			redis.command("SET", LOCK, "a-writer", "PX", "5000");
			refusal(reader, true);
			assertThat(redis.command("ZRANGE", QUEUE, "0", "-1")).isEqualTo(jvm() + ":read");
			assertThat(ttl(QUEUE)).isBetween(Duration.ofSeconds(30), Duration.ofSeconds(60));
		}

		@Test
		void aReaderTakesThePlaceThatItsJvmHadAsAWriter() {
			redis.command("SET", LOCK, "a-writer", "PX", "5000");
			redis.command("ZADD", QUEUE, "6", jvm());
			refusal(reader, true);
			assertThat(queue()).isEqualTo(jvm() + ":read 6");
		}

		@Test
		void whatAnotherProgramCallsSharedIsNotShared() {
			redis.command("SET", LOCK, "shared", "PX", "5000");
			assertThat(refusal(reader, false).remaining()).isBetween(Duration.ofMillis(1), Duration.ofSeconds(5));
			assertThat(redis.command("DBSIZE")).isEqualTo("1");
		}

		@Test
		void aWaitingWriterIsInTheWay() {
			grant(reader);
			try (Waiter writer = new Waiter("writer", 2)) {
				refusal(otherReader, true);
				assertThat(redis.command("ZRANGE", QUEUE, "0", "-1")).isEqualTo("writer\n" + jvm() + ":read");
				assertThat(redis.command("ZSCORE", READERS, otherReader.value())).isEqualTo("(nil)");
			}
		}

		@Test
		void aWaitingWriterIsNotInTheWayOfAReaderThatAsksAgain() {
			grant(reader, Duration.ofSeconds(5));
			try (Waiter writer = new Waiter("writer", 2)) {
				assertThat(grant(reader).awaited()).isTrue();
				assertThat(ttl(LOCK)).isGreaterThan(Duration.ofSeconds(10));
			}
		}

		@Test
		void aWriterThatWasNotifiedAndNeverCameIsNotInTheWay() {
			grant(reader);
			try (Waiter writer = new Waiter("writer", 3)) {
				grant(otherReader);
			}
		}

		@Test
		void aWriterThatDiedWhileItWaitedIsNotInTheWayAndForgotten() {
			grant(reader);
			redis.command("ZADD", QUEUE, "2", "dead", "4", "dead-too:fair");
			assertThat(grant(otherReader).awaited()).isFalse();
			assertThat(redis.command("EXISTS", QUEUE)).isEqualTo("0");
		}

		@Test
		void aWriterThatCameLaterIsNotInTheWay() {
			grant(reader);
			try (Waiter writer = new Waiter("writer", 4)) {
				redis.command("ZADD", QUEUE, "2", jvm() + ":read");
				assertThat(grant(otherReader).awaited()).isTrue();
				assertThat(queue()).isEqualTo("writer 4");
			}
		}

		@Test
		void aReaderThatWaitsIsNotInTheWay() {
			grant(reader);
			try (Waiter waiting = new Waiter("waiting:read", 2)) {
				grant(otherReader);
			}
		}

		@Test
		void aFreeLockIsReservedForTheWriterThatWasNotified() {
			redis.command("ZADD", QUEUE, "3", "told");
			redis.command("SET", TURN, "told", "PX", "5000");
			assertThat(refusal(reader, false).remaining()).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(5));
			assertThat(redis.command("EXISTS", LOCK, READERS)).isEqualTo("0");
		}

		@Test
		void aFreeLockIsSharedWithTheReaderThatWasNotified() {
			redis.command("ZADD", QUEUE, "3", "told:read");
			redis.command("SET", TURN, "told:read", "PX", "5000");
			grant(reader);
			assertThat(redis.command("GET", TURN)).isEqualTo("told:read");
			assertThat(queue()).isEqualTo("told:read 3");
		}

		@Test
		void theReaderThatWasNotifiedGetsTheLockAndItsTurnIsOver() {
			redis.command("ZADD", QUEUE, "3", jvm() + ":read");
			redis.command("SET", TURN, jvm() + ":read", "PX", "5000");
			assertThat(grant(reader).awaited()).isFalse();
			assertThat(redis.command("EXISTS", TURN, QUEUE)).isEqualTo("0");
		}

		@Test
		void theTurnOfOneInOrderOfArrivalIsTakenByAReaderOfItsJvmButNotItsPlace() {
			redis.command("ZADD", QUEUE, "3", jvm() + ":fair");
			redis.command("SET", TURN, jvm() + ":fair", "PX", "5000");
			grant(reader);
			assertThat(redis.command("EXISTS", TURN)).isEqualTo("0");
			assertThat(queue()).isEqualTo(jvm() + ":fair 2");
		}

		@Test
		void aKeyOfAnotherTypeIsNamed() {
			redis.command("RPUSH", LOCK, "an element");
			assertThatExceptionOfType(UnusableStoreException.class).isThrownBy(() -> grant(reader))
				.withMessageContaining("'" + LOCK + "'");
		}

	}

	@Nested
	class Renew {

		@Test
		void theReaderGetsAFullLeaseAndTheLockLivesOn() {
			grant(reader, Duration.ofSeconds(5));
			assertThat(store.renew(KEY, reader, LEASE_TIME)).isTrue();
			assertThat(ends(reader)).isEqualTo(expiry(LOCK))
				.isEqualTo(expiry(READERS))
				.isGreaterThan(millis() + 10_000);
		}

		@Test
		void aShorterLeaseShortensNoOther() {
			grant(otherReader, Duration.ofSeconds(30));
			grant(reader);
			assertThat(store.renew(KEY, reader, Duration.ofSeconds(5))).isTrue();
			assertThat(ends(reader)).isLessThan(millis() + 6_000);
			assertThat(expiry(LOCK)).isEqualTo(ends(otherReader));
		}

		@Test
		void aReaderWhoseTimeIsOverStaysDeadThoughOthersShareTheLock() {
			grant(reader);
			grant(otherReader);
			redis.command("ZADD", READERS, Long.toString(millis() - 1), reader.value());
			assertThat(store.renew(KEY, reader, LEASE_TIME)).isFalse();
			assertThat(ends(reader)).isLessThan(millis());
			assertThat(store.renew(KEY, otherReader, LEASE_TIME)).isTrue();
		}

		@Test
		void aReaderOfALockThatSomebodyElseHoldsAloneHoldsNothing() {
			grant(reader);
			redis.command("SET", LOCK, "a-writer", "PX", "5000");
			assertThat(store.renew(KEY, reader, LEASE_TIME)).isFalse();
			assertThat(ttl(LOCK)).isLessThanOrEqualTo(Duration.ofSeconds(5));
		}

		@Test
		void aFreeLockStaysFree() {
			assertThat(store.renew(KEY, reader, LEASE_TIME)).isFalse();
			assertThat(redis.command("DBSIZE")).isEqualTo("0");
		}

		@Test
		void manyAreRenewedAtOnceAndAKeyOfAnotherTypeHarmsNone() {
			grant(reader, Duration.ofSeconds(5));
			redis.command("RPUSH", "lock:{list}", "an element");
			redis.command("ZADD", "lock:{list}:readers", "9000000000000", reader.value());
			redis.command("SET", "lock:{string}", "shared");
			redis.command("SET", "lock:{string}:readers", "not a set");
			List<CompletionStage<Boolean>> answers = store.store()
				.renew(List.of(extension(LockKey.of("free"), reader), extension(LockKey.of("list"), reader),
						extension(LockKey.of("string"), reader), extension(KEY, reader), extension(KEY, otherReader)));
			assertThat(answers).extracting((answer) -> answer.toCompletableFuture().join())
				.containsExactly(false, false, false, true, false);
			assertThat(ttl(LOCK)).isGreaterThan(Duration.ofSeconds(10));
		}

		@Test
		void readersAndWritersAreRenewedTogether() {
			LockKey other = LockKey.of("other");
			grant(reader, Duration.ofSeconds(5));
			store.acquire(other, owner, Duration.ofSeconds(5), false);
			assertThat(store.store().renew(List.of(extension(KEY, reader), extension(other, owner))))
				.extracting((answer) -> answer.toCompletableFuture().join())
				.containsExactly(true, true);
		}

		private static LeaseRequest extension(LockKey key, OwnerToken owner) {
			return new LeaseRequest(key, owner, LEASE_TIME);
		}

	}

	@Nested
	class Release {

		@Test
		void theLastReaderFreesTheLockAndLeavesTheFenceAlone() {
			grant(reader);
			assertThat(store.release(KEY, reader, LockMode.WRITE)).isEqualTo(ReleaseOutcome.RELEASED);
			assertThat(redis.command("KEYS", "*")).isEqualTo(FENCE);
		}

		@Test
		void theLockStaysSharedForAsLongAsTheOthersHaveIt() {
			grant(reader, Duration.ofSeconds(30));
			grant(otherReader, Duration.ofSeconds(5));
			assertThat(store.release(KEY, reader, null)).isEqualTo(ReleaseOutcome.RELEASED);
			assertThat(redis.command("GET", LOCK)).isEqualTo("shared");
			assertThat(expiry(LOCK)).isEqualTo(ends(otherReader)).isEqualTo(expiry(READERS));
		}

		@Test
		void noWaiterIsNotifiedWhileOthersShareTheLock() {
			grant(reader);
			grant(otherReader);
			try (Waiter writer = new Waiter("writer", 2)) {
				assertThat(store.release(KEY, reader, LockMode.WRITE)).isEqualTo(ReleaseOutcome.RELEASED);
				assertThat(queue()).isEqualTo("writer 2");
			}
		}

		@Test
		void theDeadAreNoReasonToKeepTheLock() {
			grant(reader);
			redis.command("ZADD", READERS, Long.toString(millis() - 1), "dead");
			assertThat(store.release(KEY, reader, null)).isEqualTo(ReleaseOutcome.RELEASED);
			assertThat(redis.command("EXISTS", LOCK, READERS)).isEqualTo("0");
		}

		@Test
		void aReaderWhoseTimeIsOverHoldsNothing() {
			grant(reader);
			grant(otherReader);
			redis.command("ZADD", READERS, Long.toString(millis() - 1), reader.value());
			assertThat(store.release(KEY, reader, null)).isEqualTo(ReleaseOutcome.NOT_OWNER);
			assertThat(redis.command("GET", LOCK)).isEqualTo("shared");
		}

		@Test
		void aReaderOfALockThatSomebodyElseHoldsAloneHoldsNothing() {
			grant(reader);
			redis.command("SET", LOCK, "a-writer", "PX", "5000");
			assertThat(store.release(KEY, reader, null)).isEqualTo(ReleaseOutcome.NOT_OWNER);
			assertThat(redis.command("GET", LOCK)).isEqualTo("a-writer");
		}

		@Test
		void anExclusiveOwnerDoesNotFreeIt() {
			grant(reader);
			assertThat(store.release(KEY, owner, null)).isEqualTo(ReleaseOutcome.NOT_OWNER);
			assertThat(redis.command("EXISTS", LOCK, READERS)).isEqualTo("2");
		}

		@Test
		void theFirstWaiterIsNotifiedAndTheJvmQueuesBehindIt() {
			grant(reader);
			try (Waiter writer = new Waiter(".writer", FAR)) {
				assertThat(store.release(KEY, reader, LockMode.READ)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
				assertThat(writer.read()).isEqualTo("stock:1001");
				assertThat(redis.command("GET", TURN)).isEqualTo(".writer");
				assertThat(redis.command("ZRANGE", QUEUE, "0", "-1")).isEqualTo(".writer\n" + jvm() + ":read");
			}
		}

		@Test
		void deadWaitersAreSkippedAndNobodyQueues() {
			grant(reader);
			redis.command("ZADD", QUEUE, "2", "dead:read", "4", "dead-too");
			assertThat(store.release(KEY, reader, LockMode.READ)).isEqualTo(ReleaseOutcome.RELEASED);
			assertThat(redis.command("EXISTS", LOCK, QUEUE, READERS)).isEqualTo("0");
		}

	}

	@Nested
	class Wake {

		@Test
		void allReadersSideBySideAreNotified() {
			grant(owner);
			try (Waiter first = new Waiter(".first:read", FAR);
					Waiter second = new Waiter("second:read", 14);
					Waiter writer = new Waiter("writer", 16);
					Waiter last = new Waiter("last:read", 18)) {
				assertThat(store.release(KEY, owner, null)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
				assertThat(first.read()).isEqualTo("stock:1001");
				assertThat(second.read()).isEqualTo("stock:1001");
				assertThat(queue()).isEqualTo(".first:read 13 second:read 15 writer 16 last:read 18");
				assertThat(redis.command("GET", TURN)).isEqualTo(".first:read");
			}
		}

		@Test
		void aDeadReaderAmongThemKeepsNoOtherFromBeingNotified() {
			grant(owner);
			try (Waiter first = new Waiter("first:read", 2); Waiter last = new Waiter("last:read", 6)) {
				redis.command("ZADD", QUEUE, "4", "dead:read");
				store.release(KEY, owner, null);
				assertThat(last.read()).isEqualTo("stock:1001");
				assertThat(queue()).isEqualTo("first:read 3 dead:read 4 last:read 7");
			}
		}

		@Test
		void readersBehindAWriterAreNotNotifiedWithIt() {
			grant(owner);
			try (Waiter writer = new Waiter("writer", 2); Waiter waiting = new Waiter("waiting:read", 4)) {
				store.release(KEY, owner, null);
				assertThat(queue()).isEqualTo("writer 3 waiting:read 4");
			}
		}

	}

	@Nested
	class Withdraw {

		@Test
		void theWriterThatGivesUpLetsTheReadersBehindItKnow() {
			grant(reader);
			redis.command("ZADD", QUEUE, "2", jvm());
			try (Waiter waiting = new Waiter("waiting:read", 4); Waiter writer = new Waiter("writer", 6)) {
				store.withdraw(KEY);
				assertThat(waiting.read()).isEqualTo("stock:1001");
				assertThat(queue()).isEqualTo("waiting:read 5 writer 6");
				assertThat(redis.command("EXISTS", TURN)).isEqualTo("0");
			}
		}

		@Test
		void bothPlacesOfTheJvmAreGivenUpAndItsTurnWithThem() {
			redis.command("ZADD", QUEUE, "3", jvm() + ":read", "4", jvm(), "5", jvm() + ":fair");
			redis.command("SET", TURN, jvm() + ":read", "PX", "60000");
			try (Waiter next = new Waiter(".next", FAR)) {
				redis.command("ZREM", QUEUE, jvm() + ":fair");
				store.withdraw(KEY);
				assertThat(queue()).isEqualTo(".next 13");
				assertThat(redis.command("GET", TURN)).isEqualTo(".next");
			}
		}

	}

	@Nested
	class Awaited {

		@Test
		void aJvmThatDiedWhileItWaitedIsForgotten() {
			redis.command("ZADD", QUEUE, "2", "dead", "4", "dead-too:fair");
			assertThat(store.isAwaited(KEY)).isFalse();
			assertThat(redis.command("EXISTS", QUEUE)).isEqualTo("0");
		}

		@Test
		void aWaiterKeepsItsPlace() {
			redis.command("ZADD", QUEUE, "2", "dead");
			try (Waiter waiting = new Waiter("waiting:fair", 4)) {
				assertThat(store.isAwaited(KEY)).isTrue();
				assertThat(queue()).isEqualTo("waiting:fair 4");
			}
		}

	}

	private static long ends(OwnerToken owner) {
		return Long.parseLong(redis.command("ZSCORE", READERS, owner.value()));
	}

	/**
	 * Return when a key expires, as PEXPIRETIME does, which Redis 6.2 does not know.
	 */
	private static long expiry(String key) {
		return Long.parseLong(redis.command("EVAL", """
				local function millis()
					local time = redis.call('TIME')
					return time[1] * 1000 + math.floor(time[2] / 1000)
				end
				local now, left
				repeat
					now = millis()
					left = redis.call('PTTL', KEYS[1])
				until millis() == now
				return now + left
				""", "1", key));
	}

}
