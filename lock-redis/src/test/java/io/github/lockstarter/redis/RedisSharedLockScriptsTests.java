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

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The keys and values that the scripts for readers read and write, which the contract of
 * a store does not see. Each test sets up the state that leads to a branch.
 */
class RedisSharedLockScriptsTests extends LockScriptHarness {

	private static final Duration SHORTER = LEASE_TIME.dividedBy(2);

	private final OwnerToken reader = OwnerToken.random(LockMode.READ);

	private final OwnerToken otherReader = OwnerToken.random(LockMode.READ);

	@Nested
	class Acquire {

		@Test
		void aFreeLockIsSetToSharedAndTheReaderNamed() {
			grant(reader);
			assertThat(redis.command("GET", LOCK)).isEqualTo("shared");
			assertThat(redis.command("ZRANGE", READERS, "0", "-1")).isEqualTo(reader.value());
			assertExpiry(LOCK, LEASE_TIME);
			assertThat(ends(reader)).isEqualTo(expiry(LOCK));
		}

		@Test
		void theLockAndItsReadersLiveAsLongAsTheLongestShare() {
			grant(reader, SHORTER);
			grant(otherReader);
			assertThat(expiry(LOCK)).isEqualTo(ends(otherReader)).isEqualTo(expiry(READERS));
			grant(OwnerToken.random(LockMode.READ), SHORTER);
			assertThat(expiry(LOCK)).isEqualTo(ends(otherReader)).isEqualTo(expiry(READERS));
		}

		@Test
		void readersOfALockThatIsGoneAreForgotten() {
			redis.command("ZADD", READERS, Long.toString(millis() + 600_000), "of-a-lock-that-was-deleted");
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
		void anExclusiveHolderIsInTheWayThoughReadersWereLeft() {
			redis.command("SET", LOCK, "a-writer", "PX", MINUTE);
			redis.command("ZADD", READERS, Long.toString(millis() + 60_000), "of-a-lock-that-was-deleted");
			assertThat(refusal(reader, false).remaining()).isPositive();
			assertThat(redis.command("GET", LOCK)).isEqualTo("a-writer");
		}

		@Test
		void whatAnotherProgramCallsSharedIsNotShared() {
			redis.command("SET", LOCK, "shared", "PX", MINUTE);
			assertThat(refusal(reader, false).remaining()).isPositive();
			assertThat(refusal(reader, false).holder()).isEqualTo("a foreign owner");
			assertThat(refusal(owner, false).holder()).isEqualTo("a foreign owner");
			assertThat(redis.command("KEYS", "*")).isEqualTo(LOCK);
		}

		@Test
		void aRefusedReaderTakesThePlaceThatItsJvmHadAsAWriter() {
			redis.command("SET", LOCK, "a-writer", "PX", MINUTE);
			redis.command("ZADD", QUEUE, "6", jvm());
			refusal(reader, true);
			assertThat(queue()).isEqualTo(jvm() + ":read 6");
			assertExpiry(QUEUE, Duration.ofSeconds(60));
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
			grant(otherReader);
			assertThat(redis.command("EXISTS", QUEUE)).isEqualTo("0");
		}

		@Test
		void aWriterThatCameLaterIsNotInTheWay() {
			grant(reader);
			try (Waiter writer = new Waiter("writer", 6); Waiter waiting = new Waiter("waiting:read", 2)) {
				redis.command("ZADD", QUEUE, "4", jvm() + ":read");
				grant(otherReader);
				assertThat(queue()).isEqualTo("waiting:read 2 writer 6");
			}
		}

		@Test
		void aFreeLockIsReservedForTheWriterThatWasNotified() {
			redis.command("ZADD", QUEUE, "3", "told");
			redis.command("SET", TURN, "told", "PX", MINUTE);
			assertThat(refusal(reader, false).remaining()).isPositive();
			assertThat(redis.command("EXISTS", LOCK, READERS)).isEqualTo("0");
		}

		@Test
		void aFreeLockIsSharedWithTheReaderThatWasNotified() {
			redis.command("ZADD", QUEUE, "3", "told:read");
			redis.command("SET", TURN, "told:read", "PX", MINUTE);
			grant(reader);
			assertThat(redis.command("GET", TURN)).isEqualTo("told:read");
			assertThat(queue()).isEqualTo("told:read 3");
		}

		@Test
		void theReaderThatWasNotifiedGetsTheLockAndItsTurnIsOver() {
			redis.command("ZADD", QUEUE, "3", jvm() + ":read");
			redis.command("SET", TURN, jvm() + ":read", "PX", MINUTE);
			grant(reader);
			assertThat(redis.command("EXISTS", TURN, QUEUE)).isEqualTo("0");
		}

	}

	@Nested
	class Renew {

		@Test
		void theLockLivesAsLongAsItsLongestShare() {
			grant(otherReader, SHORTER);
			grant(reader, SHORTER);
			assertThat(store.renew(KEY, reader, LEASE_TIME)).isTrue();
			assertExpiry(LOCK, LEASE_TIME);
			assertThat(expiry(LOCK)).isEqualTo(ends(reader)).isEqualTo(expiry(READERS));
			assertThat(store.renew(KEY, otherReader, SHORTER)).isTrue();
			assertThat(expiry(LOCK)).isEqualTo(ends(reader)).isNotEqualTo(ends(otherReader));
		}

		@Test
		void itsFencingBaseIsNotForgottenWhileItIsRenewed() {
			grant(reader);
			redis.command("PEXPIRE", FENCE, MINUTE);
			assertThat(store.renew(KEY, reader, LEASE_TIME)).isTrue();
			assertExpiry(FENCE, RedisLockSettings.DEFAULTS.fenceRetention());
		}

		@Test
		void aReaderWhoseTimeIsOverHoldsNothingThoughOthersShareTheLock() {
			grant(reader);
			grant(otherReader);
			redis.command("ZADD", READERS, Long.toString(millis() - 1), reader.value());
			assertThat(store.renew(KEY, reader, LEASE_TIME)).isFalse();
			assertThat(store.release(KEY, reader)).isFalse();
			assertThat(redis.command("GET", LOCK)).isEqualTo("shared");
			assertThat(store.renew(KEY, otherReader, LEASE_TIME)).isTrue();
		}

		@Test
		void aReaderOfALockThatSomebodyElseHoldsAloneHoldsNothing() {
			grant(reader);
			redis.command("SET", LOCK, "a-writer", "PX", "30000");
			assertThat(store.renew(KEY, reader, LEASE_TIME)).isFalse();
			assertThat(store.release(KEY, reader)).isFalse();
			assertThat(redis.command("GET", LOCK)).isEqualTo("a-writer");
			assertExpiry(LOCK, Duration.ofSeconds(30));
		}

		@Test
		void manyAreRenewedAtOnceAndAKeyOfAnotherTypeHarmsNone() {
			grant(reader, SHORTER);
			redis.command("RPUSH", "lock:{list}", "an element");
			redis.command("ZADD", "lock:{list}:readers", "9000000000000", reader.value());
			redis.command("SET", "lock:{string}", "shared");
			redis.command("SET", "lock:{string}:readers", "not a set");
			List<CompletionStage<Boolean>> answers = store.store()
				.renew(List.of(extension(LockKey.of("free"), reader), extension(LockKey.of("list"), reader),
						extension(LockKey.of("list"), owner), extension(LockKey.of("string"), reader),
						extension(KEY, reader), extension(KEY, otherReader)));
			assertThat(answers).extracting((answer) -> answer.toCompletableFuture().join())
				.containsExactly(false, false, false, false, true, false);
			assertExpiry(LOCK, LEASE_TIME);
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
			assertThat(store.release(KEY, reader)).isTrue();
			assertThat(redis.command("KEYS", "*")).isEqualTo(FENCE);
		}

		@Test
		void theLockStaysSharedForAsLongAsTheOthersHaveItAndNoWaiterIsNotified() {
			grant(reader);
			grant(otherReader, SHORTER);
			try (Waiter writer = new Waiter("writer", 2)) {
				assertThat(store.release(KEY, reader)).isTrue();
				assertThat(queue()).isEqualTo("writer 2");
			}
			assertThat(redis.command("GET", LOCK)).isEqualTo("shared");
			assertThat(expiry(LOCK)).isEqualTo(ends(otherReader)).isEqualTo(expiry(READERS));
		}

		@Test
		void theDeadAreNoReasonToKeepTheLock() {
			grant(reader);
			redis.command("ZADD", READERS, Long.toString(millis() - 1), "dead");
			assertThat(store.release(KEY, reader)).isTrue();
			assertThat(redis.command("EXISTS", LOCK, READERS)).isEqualTo("0");
		}

		@Test
		void deadWaitersAreSkippedAndNobodyQueues() {
			grant(reader);
			redis.command("ZADD", QUEUE, "2", "dead:read", "4", "dead-too");
			assertThat(store.release(KEY, reader)).isTrue();
			assertThat(redis.command("EXISTS", LOCK, QUEUE, READERS)).isEqualTo("0");
		}

	}

	@Nested
	class Wake {

		@Test
		void allReadersSideBySideAreNotified() {
			grant(owner);
			try (Waiter first = new Waiter("first:read", 2);
					Waiter second = new Waiter("second:read", 4);
					Waiter writer = new Waiter("writer", 6);
					Waiter last = new Waiter("last:read", 8)) {
				assertThat(store.release(KEY, owner)).isTrue();
				assertThat(first.read()).isEqualTo("stock:1001");
				assertThat(second.read()).isEqualTo("stock:1001");
				assertThat(queue()).isEqualTo("first:read 3 second:read 5 writer 6 last:read 8");
				assertThat(redis.command("GET", TURN)).isEqualTo("first:read");
			}
		}

		@Test
		void aDeadReaderKeepsNoOtherFromBeingNotified() {
			grant(owner);
			try (Waiter first = new Waiter("first:read", 2); Waiter last = new Waiter("last:read", 6)) {
				redis.command("ZADD", QUEUE, "4", "dead:read");
				store.release(KEY, owner);
				assertThat(last.read()).isEqualTo("stock:1001");
				assertThat(queue()).isEqualTo("first:read 3 dead:read 4 last:read 7");
			}
		}

	}

	@Nested
	class Withdraw {

		@Test
		void bothPlacesOfTheJvmAreGivenUpAndItsTurnWithThem() {
			redis.command("ZADD", QUEUE, "3", jvm() + ":read", "4", jvm());
			redis.command("SET", TURN, jvm() + ":read", "PX", MINUTE);
			try (Waiter next = new Waiter("next", 6)) {
				store.withdraw(KEY);
				assertThat(queue()).isEqualTo("next 7");
				assertThat(redis.command("GET", TURN)).isEqualTo("next");
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
