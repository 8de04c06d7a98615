// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.OwnerToken;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The keys and values that the scripts for FAIR owners read and write, which the contract
 * of a store does not see. Each test sets up the state that leads to a branch.
 */
class RedisFairLockScriptsTests extends LockScriptHarness {

	private final OwnerToken fair = OwnerToken.random(LockMode.FAIR);

	private final OwnerToken otherFair = OwnerToken.random(LockMode.FAIR);

	@Nested
	class Arrive {

		@Test
		void theTicketOfAPlaceIsTheTimeOfTheServerAndStaysTheSame() {
			long before = micros();
			store.arrive(KEY, fair);
			long ticket = ticket(place(fair));
			assertThat(ticket / 2).isBetween(before - before % 8, micros() + 8);
			store.arrive(KEY, fair);
			assertThat(ticket(place(fair))).isEqualTo(ticket);
		}

		@Test
		void itComesBehindAllEvenIfTheClockWasSetBack() {
			redis.command("ZADD", QUEUE, "4000000000000001", "early");
			store.arrive(KEY, fair);
			store.arrive(KEY, otherFair);
			assertThat(queue()).startsWith("early ");
			assertThat(ticket(place(fair))).isBetween(4000000000000002L, 4000000000000032L);
			assertThat(ticket(place(otherFair))).isBetween(ticket(place(fair)) + 1, 4000000000000048L);
		}

		@Test
		void theQueueIsRememberedForAnHourAndOthersDoNotShortenThat() {
			grant(owner);
			store.arrive(KEY, fair);
			assertExpiry(QUEUE, Duration.ofHours(1));
			refusal(OwnerToken.random(LockMode.READ), true);
			assertExpiry(QUEUE, Duration.ofHours(1));
		}

	}

	@Nested
	class Acquire {

		@Test
		void aFreeLockIsSetToTheOwnerForTheLeaseTime() {
			grant(fair);
			assertThat(redis.command("GET", LOCK)).isEqualTo(fair.value());
			assertExpiry(LOCK, LEASE_TIME);
			assertThat(redis.command("EXISTS", QUEUE, TURN)).isEqualTo("0");
		}

		@Test
		void theSameOwnerGetsItsBaseAgainAndAFullLeaseThoughOthersWait() {
			long base = grant(fair).fencingBase();
			redis.command("PEXPIRE", LOCK, "20000");
			try (Waiter waiting = new Waiter("waiting", 2)) {
				assertThat(grant(fair).fencingBase()).isEqualTo(base);
				assertExpiry(LOCK, LEASE_TIME);
				assertThat(queue()).isEqualTo("waiting 2");
			}
		}

		@Test
		void aRefusedOwnerStandsInTheQueueUnderItsOwnNameIfItWaits() {
			grant(owner);
			refusal(fair, false);
			assertThat(redis.command("EXISTS", QUEUE)).isEqualTo("0");
			refusal(fair, true);
			refusal(otherFair, true);
			assertThat(redis.command("ZRANGE", QUEUE, "0", "-1")).isEqualTo(place(fair) + '\n' + place(otherFair));
		}

		@Test
		void aFreeLockGoesToTheFirstThatCanBeReached() {
			redis.command("ZADD", QUEUE, "2", "dead:a", "3", "dead-too:b");
			try (Waiter first = new Waiter("first:c", 4)) {
				store.arrive(KEY, fair);
				assertThat(refusal(fair, true).remaining()).isPositive();
				assertThat(first.read()).isEqualTo("stock:1001");
				assertThat(queue()).startsWith("first:c 5 " + place(fair));
				assertThat(redis.command("GET", TURN)).isEqualTo("first:c");
			}
		}

		@Test
		void aFreeLockBehindOneThatHasNotComeIsGrantedToTheNextThoughItWasNotifiedBefore() {
			try (Waiter paused = new Waiter("paused:a", 3); Waiter later = new Waiter("later:b", 6)) {
				redis.command("ZADD", QUEUE, "5", place(fair));
				grant(fair);
				assertThat(queue()).isEqualTo("paused:a 3 later:b 6");
			}
		}

		@Test
		void aFreeLockBehindTheDeadIsGranted() {
			redis.command("ZADD", QUEUE, "2", "dead:a", "4", "dead-too");
			store.arrive(KEY, fair);
			grant(fair);
			assertThat(redis.command("EXISTS", QUEUE, TURN)).isEqualTo("0");
		}

		@Test
		void anOwnerThatDoesNotWaitGetsNothingBeforeWaiters() {
			try (Waiter first = new Waiter("first:c", 2)) {
				refusal(fair, false);
				assertThat(queue()).isEqualTo("first:c 3");
			}
		}

		@Test
		void aFreeLockIsReservedForTheWaiterThatWasNotified() {
			redis.command("ZADD", QUEUE, "3", "told:a");
			redis.command("SET", TURN, "told:a", "PX", MINUTE);
			assertThat(refusal(fair, false).remaining()).isPositive();
			assertThat(redis.command("EXISTS", LOCK)).isEqualTo("0");
		}

		@Test
		void theNotifiedOwnerGetsTheLockAndItsTurnIsOver() {
			store.arrive(KEY, fair);
			redis.command("SET", TURN, place(fair), "PX", MINUTE);
			grant(fair);
			assertThat(redis.command("EXISTS", TURN, QUEUE)).isEqualTo("0");
		}

		@Test
		void aTurnOfOneThatIsNotThereAnyMoreEndsWithTheGrant() {
			redis.command("SET", TURN, place(otherFair), "PX", MINUTE);
			grant(fair);
			assertThat(redis.command("EXISTS", TURN, QUEUE)).isEqualTo("0");
		}

	}

	@Nested
	class Release {

		@Test
		void aJvmThatHasNotComeIsPassedOverWithAllItsPlaces() {
			grant(owner);
			try (Waiter paused = new Waiter("paused:a", 3); Waiter next = new Waiter("next:c", 6)) {
				redis.command("ZADD", QUEUE, "4", "paused:b");
				assertThat(store.release(KEY, owner)).isTrue();
				assertThat(next.read()).isEqualTo("stock:1001");
				assertThat(queue()).isEqualTo("paused:a 3 paused:b 4 next:c 7");
			}
		}

	}

	@Nested
	class Withdraw {

		@Test
		void onlyTheOwnPlaceIsGivenUp() {
			grant(owner);
			redis.command("ZADD", QUEUE, "2", jvm(), "4", place(otherFair), "6", place(fair));
			store.withdraw(KEY, fair);
			assertThat(queue()).isEqualTo(jvm() + " 2 " + place(otherFair) + " 4");
			store.withdraw(KEY);
			assertThat(queue()).isEqualTo(place(otherFair) + " 4");
		}

		@Test
		void theTurnOfOneThatDoesNotWaitAnyMoreIsPassedOnAndItsPlaceIsGivenUp() {
			redis.command("ZADD", QUEUE, "3", place(otherFair), "4", place(fair));
			redis.command("SET", TURN, place(otherFair), "PX", MINUTE);
			store.withdraw(KEY);
			assertThat(queue()).isEqualTo(place(fair) + " 5");
		}

		@Test
		void theTurnOfAnotherStays() {
			redis.command("ZADD", QUEUE, "3", "told:x", "4", place(fair));
			redis.command("SET", TURN, "told:x", "PX", MINUTE);
			store.withdraw(KEY, fair);
			assertThat(redis.command("GET", TURN)).isEqualTo("told:x");
			assertThat(queue()).isEqualTo("told:x 3");
		}

	}

	private static String place(OwnerToken owner) {
		return jvm() + ':' + owner.value().substring(owner.value().lastIndexOf('.') + 1);
	}

	private static long ticket(String place) {
		return Long.parseLong(redis.command("ZSCORE", QUEUE, place));
	}

}
