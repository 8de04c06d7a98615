// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.LockRefusal;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.ReleaseOutcome;
import io.github.lockstarter.store.UnusableStoreException;
import io.github.lockstarter.test.StoreClient;
import io.github.lockstarter.testsupport.EmbeddedRedis;
import io.github.lockstarter.testsupport.RedisSocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Every branch of the scripts. Each test sets up the state that leads to the branch.
 */
class RedisLockScriptsTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final String LOCK = "lock:{stock:1001}";

	private static final String FENCE = LOCK + ":fence";

	private static final String TURN = LOCK + ":turn";

	private static final String QUEUE = LOCK + ":queue";

	private static final Duration LEASE_TIME = Duration.ofSeconds(20);

	private static final Duration FENCE_RETENTION = Duration.ofHours(1);

	/** Further ahead than the clock of the server will be for decades. */
	private static final long FUTURE = 2_000_000_000_000_000L;

	private static EmbeddedRedis redis;

	private static LettuceConnectionFactory connections;

	private static RedisLockStore redisStore;

	private static StoreClient store;

	private final OwnerToken owner = OwnerToken.random();

	private final OwnerToken other = OwnerToken.random();

	@BeforeAll
	static void startRedis() {
		redis = EmbeddedRedis.start();
		connections = new LettuceConnectionFactory("127.0.0.1", redis.port());
		connections.start();
		redisStore = new RedisLockStore(connections,
				new RedisLockSettings("lock:", FENCE_RETENTION, false, 0, Duration.ofSeconds(1)));
		store = new StoreClient(redisStore);
	}

	@AfterAll
	static void stopRedis() {
		redisStore.close();
		connections.destroy();
		redis.close();
	}

	@BeforeEach
	void empty() {
		redis.command("FLUSHALL");
	}

	@Nested
	class Acquire {

		@Test
		void aFreeLockIsSetToTheOwnerForTheLeaseTime() {
			acquire(owner);
			assertThat(redis.command("GET", LOCK)).isEqualTo(owner.value());
			assertThat(ttl(LOCK)).isBetween(Duration.ofSeconds(10), LEASE_TIME);
		}

		@Test
		void theFencingBaseIsRememberedForItsTime() {
			long base = acquire(owner);
			assertThat(redis.command("GET", FENCE)).isEqualTo(Long.toString(base));
			assertThat(ttl(FENCE)).isBetween(Duration.ofMinutes(59), FENCE_RETENTION);
			store.release(KEY, owner, null);
			assertThat(ttl(FENCE)).isBetween(Duration.ofMinutes(59), FENCE_RETENTION);
			assertThat(redis.command("DBSIZE")).isEqualTo("1");
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
			store.release(KEY, owner, null);
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
		void aGrantTakesTheJvmOutOfTheQueue() {
			redis.command("SET", LOCK, "somebody-else", "PX", "60000");
			queue();
			redis.command("DEL", LOCK);
			acquire(owner);
			assertThat(redis.command("EXISTS", QUEUE)).isEqualTo("0");
		}

		@Test
		void theSameOwnerGetsItsBaseAgainAndAFullLease() {
			long base = acquire(owner);
			redis.command("PEXPIRE", LOCK, "5000");
			assertThat(acquire(owner)).isEqualTo(base);
			assertThat(ttl(LOCK)).isGreaterThan(Duration.ofSeconds(10));
		}

		@Test
		void theSameOwnerLeavesTheQueueToo() {
			acquire(owner);
			queue();
			acquire(owner);
			assertThat(redis.command("EXISTS", QUEUE)).isEqualTo("0");
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
		void aRefusalStatesTheRemainingTimeAndChangesNothing() {
			redis.command("SET", LOCK, "somebody-else", "PX", "5000");
			assertThat(refusal(false).remaining()).isBetween(Duration.ofMillis(1), Duration.ofSeconds(5));
			assertThat(redis.command("GET", LOCK)).isEqualTo("somebody-else");
			assertThat(redis.command("DBSIZE")).isEqualTo("1");
		}

		@Test
		void theRemainingTimeOfALockThatNeverEndsIsUnknown() {
			redis.command("SET", LOCK, "somebody-else");
			assertThat(refusal(false).remaining()).isNull();
			assertThat(redis.command("PTTL", LOCK)).isEqualTo("-1");
		}

		@Test
		void aRefusedJvmQueuesByItsArrivalAndNotForEver() {
			redis.command("SET", LOCK, "somebody-else", "PX", "60000");
			long before = micros();
			String jvm = queue();
			assertThat(arrival(jvm)).isBetween(before, micros());
			assertThat(ttl(QUEUE)).isBetween(Duration.ofSeconds(30), Duration.ofSeconds(60));
		}

		@Test
		void aRefusedJvmThatAsksAgainKeepsItsArrival() {
			redis.command("SET", LOCK, "somebody-else", "PX", "60000");
			String jvm = queue();
			long arrival = arrival(jvm);
			redis.command("PEXPIRE", QUEUE, "5000");
			queue();
			assertThat(arrival(jvm)).isEqualTo(arrival);
			assertThat(ttl(QUEUE)).isGreaterThan(Duration.ofSeconds(30));
		}

		@Test
		void aRefusedJvmQueuesBehindArrivalsAheadOfTheClock() {
			redis.command("SET", LOCK, "somebody-else", "PX", "60000");
			redis.command("ZADD", QUEUE, Long.toString(2 * FUTURE + 1), "early");
			refusal(true);
			assertThat(arrival(redis.command("ZRANGE", QUEUE, "-1", "-1"))).isBetween(FUTURE + 1, FUTURE + 8);
		}

		@Test
		void aJvmThatWasNotifiedAndComesTooLateKeepsItsPlace() {
			redis.command("SET", LOCK, "somebody-else", "PX", "60000");
			String jvm = queue();
			long arrival = arrival(jvm);
			redis.command("ZADD", QUEUE, Long.toString(2 * arrival + 1), jvm);
			queue();
			assertThat(arrival(jvm)).isEqualTo(arrival);
		}

		@Test
		void aFreeLockIsReservedForTheJvmThatWasNotified() {
			redis.command("ZADD", QUEUE, "3", "told");
			redis.command("SET", TURN, "told", "PX", "5000");
			assertThat(refusal(true).remaining()).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(5));
			assertThat(redis.command("ZRANGE", QUEUE, "0", "-1")).startsWith("told\n");
			assertThat(redis.command("EXISTS", LOCK)).isEqualTo("0");
		}

		@Test
		void aLockIsNotKeptForLongerThanAMoment() {
			redis.command("ZADD", QUEUE, "3", "told");
			acquire(owner);
			assertThat(redis.command("GET", LOCK)).isEqualTo(owner.value());
		}

		@Test
		void theJvmThatWasNotifiedGetsTheLockAndItsTurnIsOver() {
			redis.command("SET", LOCK, "somebody-else", "PX", "60000");
			String jvm = queue();
			redis.command("DEL", LOCK);
			redis.command("SET", TURN, jvm, "PX", "5000");
			acquire(owner);
			assertThat(redis.command("EXISTS", TURN, QUEUE)).isEqualTo("0");
		}

		@Test
		void aGrantStatesWhetherOtherJvmsWait() {
			assertThat(grant(owner).awaited()).isFalse();
			queue();
			assertThat(grant(owner).awaited()).isFalse();
			try (Waiter waiting = new Waiter("waiting", 1)) {
				queue();
				assertThat(grant(owner).awaited()).isTrue();
				assertThat(store.isAwaited(KEY)).isTrue();
				redis.command("DEL", QUEUE);
				assertThat(store.isAwaited(KEY)).isFalse();
			}
		}

	}

	@Nested
	class Renew {

		@Test
		void theOwnerGetsAFullLease() {
			acquire(owner);
			redis.command("PEXPIRE", LOCK, "5000");
			assertThat(store.renew(KEY, owner, LEASE_TIME)).isTrue();
			assertThat(ttl(LOCK)).isBetween(Duration.ofSeconds(10), LEASE_TIME);
		}

		@Test
		void anotherOwnerChangesNothing() {
			acquire(owner);
			redis.command("PEXPIRE", LOCK, "5000");
			assertThat(store.renew(KEY, other, LEASE_TIME)).isFalse();
			assertThat(ttl(LOCK)).isLessThanOrEqualTo(Duration.ofSeconds(5));
		}

		@Test
		void manyAreRenewedAtOnceAndEachHasItsOwnAnswer() {
			acquire(owner);
			redis.command("PEXPIRE", LOCK, "5000");
			redis.command("RPUSH", "lock:{list}", "an element");
			List<CompletionStage<Boolean>> answers = store.store()
				.renew(List.of(new LeaseRequest(LockKey.of("free"), owner, LEASE_TIME),
						new LeaseRequest(KEY, owner, LEASE_TIME),
						new LeaseRequest(LockKey.of("list"), owner, LEASE_TIME),
						new LeaseRequest(KEY, other, LEASE_TIME)));
			assertThat(answers).extracting((answer) -> answer.toCompletableFuture().join())
				.containsExactly(false, true, false, false);
			assertThat(ttl(LOCK)).isGreaterThan(Duration.ofSeconds(10));
		}

		@Test
		void leasesOfAllLengthsAndModesAreRenewedByAFewScripts() {
			List<LeaseRequest> extensions = new ArrayList<>();
			for (int i = 0; i < 10; i++) {
				OwnerToken reader = OwnerToken.random(LockMode.READ);
				store.acquire(LockKey.of("mixed", i), owner, Duration.ofSeconds(5), false);
				store.acquire(LockKey.of("shared", i), reader, Duration.ofSeconds(5), false);
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
			assertThat(ttl("lock:{mixed:4}")).isGreaterThan(Duration.ofSeconds(10));
			assertThat(ttl("lock:{mixed:5}")).isLessThanOrEqualTo(Duration.ofSeconds(5));
			assertThat(ttl("lock:{shared:5}")).isGreaterThan(Duration.ofSeconds(10));
		}

		@Test
		void aFreeLockStaysFree() {
			assertThat(store.renew(KEY, owner, LEASE_TIME)).isFalse();
			assertThat(redis.command("DBSIZE")).isEqualTo("0");
		}

	}

	@Nested
	class AcquireAll {

		private static final LockKey SECOND = LockKey.of("stock", 1002);

		@Test
		void freeLocksAreSetToTheirOwners() {
			assertThat(acquireAll()).hasSize(2);
			assertThat(redis.command("GET", LOCK)).isEqualTo(owner.value());
			assertThat(redis.command("GET", "lock:{stock:1002}")).isEqualTo(other.value());
			assertThat(ttl(LOCK)).isBetween(Duration.ofSeconds(10), LEASE_TIME);
		}

		@Test
		void whereOneIsHeldNothingIsChanged() {
			redis.command("SET", "lock:{stock:1002}", "somebody");
			assertThat(acquireAll()).isEmpty();
			assertThat(redis.command("KEYS", "*")).isEqualTo("lock:{stock:1002}");
		}

		@Test
		void whereOneIsSharedNothingIsChanged() {
			redis.command("SET", LOCK, "shared");
			assertThat(acquireAll()).isEmpty();
			assertThat(redis.command("KEYS", "*")).isEqualTo(LOCK);
		}

		@Test
		void whereOneIsKeptForAnotherNothingIsChanged() {
			redis.command("SET", TURN, "another-jvm");
			assertThat(acquireAll()).isEmpty();
			assertThat(redis.command("KEYS", "*")).isEqualTo(TURN);
		}

		@Test
		void aRepeatedRequestHasTheSameAnswer() {
			List<LockGrant> grants = acquireAll();
			assertThat(acquireAll()).isEqualTo(grants);
		}

		private List<LockGrant> acquireAll() {
			return store.acquireAll(
					List.of(new LeaseRequest(KEY, owner, LEASE_TIME), new LeaseRequest(SECOND, other, LEASE_TIME)));
		}

	}

	@Nested
	class Release {

		@Test
		void anotherOwnerChangesNothing() {
			acquire(owner);
			try (Waiter waiter = new Waiter("waiting", 1)) {
				assertThat(store.release(KEY, other, LockMode.EXCLUSIVE)).isEqualTo(ReleaseOutcome.NOT_OWNER);
				assertThat(redis.command("GET", LOCK)).isEqualTo(owner.value());
				assertThat(redis.command("ZRANGE", QUEUE, "0", "-1")).isEqualTo("waiting");
			}
		}

		@Test
		void aFreeLockIsNotReleased() {
			assertThat(store.release(KEY, owner, LockMode.EXCLUSIVE)).isEqualTo(ReleaseOutcome.NOT_OWNER);
			assertThat(redis.command("DBSIZE")).isEqualTo("0");
		}

		@Test
		void theLockIsFreeAndNobodyQueuesWithoutAWaiter() {
			acquire(owner);
			assertThat(store.release(KEY, owner, LockMode.EXCLUSIVE)).isEqualTo(ReleaseOutcome.RELEASED);
			assertThat(redis.command("EXISTS", LOCK, QUEUE)).isEqualTo("0");
		}

		@Test
		void theFirstWaiterIsNotifiedWhichLockIsFree() {
			acquire(owner);
			try (Waiter second = new Waiter("second", 2); Waiter first = new Waiter("first", 1)) {
				assertThat(store.release(KEY, owner, null)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
				assertThat(redis.command("EXISTS", LOCK)).isEqualTo("0");
				assertThat(first.read()).isEqualTo("stock:1001");
			}
		}

		@Test
		void theWaiterThatIsNotifiedKeepsItsPlaceAndPrecedence() {
			acquire(owner);
			try (Waiter second = new Waiter("second", 7); Waiter first = new Waiter(".first", 6)) {
				store.release(KEY, owner, null);
				assertThat(redis.command("ZRANGE", QUEUE, "0", "-1", "WITHSCORES")).isEqualTo(".first\n13\nsecond\n14");
				assertThat(redis.command("GET", TURN)).isEqualTo(".first");
				assertThat(ttl(TURN)).isBetween(Duration.ZERO, Duration.ofMillis(1280));
			}
		}

		@Test
		void aWaiterThatWasNotifiedAndHasNotComeIsPassedOverAndKeepsItsPlace() {
			acquire(owner);
			try (Waiter second = new Waiter("second", 2); Waiter paused = new Waiter("paused", 1)) {
				store.release(KEY, owner, null);
				redis.command("DEL", TURN);
				acquire(other);
				assertThat(store.release(KEY, other, null)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
				assertThat(second.read()).isEqualTo("stock:1001");
				assertThat(redis.command("ZRANGE", QUEUE, "0", "-1", "WITHSCORES")).isEqualTo("paused\n3\nsecond\n5");
			}
		}

		@Test
		void aWaiterThatWasNotifiedAndDiedIsForgotten() {
			acquire(owner);
			redis.command("ZADD", QUEUE, "3", "dead");
			try (Waiter second = new Waiter("second", 2)) {
				assertThat(store.release(KEY, owner, null)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
				assertThat(redis.command("ZRANGE", QUEUE, "0", "-1")).isEqualTo("second");
			}
		}

		@Test
		void nobodyLooksBehindManyThatWereNotifiedAndHaveNotCome() {
			acquire(owner);
			List<Waiter> paused = IntStream.range(0, 20).mapToObj((i) -> new Waiter("paused" + i, i)).toList();
			for (int i = 0; i < 20; i++) {
				redis.command("ZINCRBY", QUEUE, "1", "paused" + i);
			}
			try (Waiter last = new Waiter("last", 100)) {
				assertThat(store.release(KEY, owner, null)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
				assertThat(last.read()).isEqualTo("stock:1001");
				assertThat(redis.command("ZCARD", QUEUE)).isEqualTo("17");
			}
			paused.forEach(Waiter::close);
		}

		@Test
		void theLockIsKeptForAsLongAsTheWaiterNeeds() {
			acquire(owner);
			try (Waiter far = new Waiter(".far", 6)) {
				store.release(KEY, owner, null);
				assertThat(far.read()).isEqualTo("stock:1001");
				assertThat(ttl(TURN)).isBetween(Duration.ofMillis(21), Duration.ofMillis(1280));
				assertThat(redis.command("ZSCORE", QUEUE, ".far")).isEqualTo("13");
			}
		}

		@Test
		void whatAnotherVersionNotesInItsTicketIsNoNeed() {
			acquire(owner);
			try (Waiter waiter = new Waiter("an-earlier-version", 7)) {
				store.release(KEY, owner, null);
				assertThat(ttl(TURN)).isLessThanOrEqualTo(Duration.ofMillis(20));
			}
		}

		@Test
		void anInstanceThatIsNearSaysHowLittleItNeeds() {
			redis.command("SET", LOCK, "somebody-else", "PX", "60000");
			Awaitility.await().until(() -> {
				redis.command("DEL", QUEUE);
				long ticket = Long.parseLong(redis.command("ZSCORE", QUEUE, queue()));
				return ticket % 16 / 2 < 3;
			});
		}

		@Test
		void aWaiterThatComesTooLateIsKeptTheLockForLongerNextTime() {
			redis.command("SET", LOCK, "somebody-else", "PX", "60000");
			String jvm = queue();
			long ticket = 16 * (arrival(jvm) / 8);
			for (int need = 0; need < 7; need++) {
				redis.command("ZADD", QUEUE, Long.toString(ticket + 2 * need + 1), jvm);
				queue();
				long next = Long.parseLong(redis.command("ZSCORE", QUEUE, jvm)) - ticket;
				assertThat(next).isEven().isBetween(2L * Math.min(need + 1, 6), 12L);
			}
		}

		@Test
		void deadWaitersAreSkipped() {
			acquire(owner);
			redis.command("ZADD", QUEUE, "2", "dead", "4", "dead-too");
			try (Waiter waiter = new Waiter("alive", 3)) {
				assertThat(store.release(KEY, owner, null)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
				assertThat(redis.command("ZRANGE", QUEUE, "0", "-1")).isEqualTo("alive");
				assertThat(waiter.read()).isEqualTo("stock:1001");
			}
		}

		@Test
		void aQueueOfDeadWaitersIsRemoved() {
			acquire(owner);
			redis.command("ZADD", QUEUE, "2", "dead", "4", "dead-too");
			assertThat(store.release(KEY, owner, LockMode.EXCLUSIVE)).isEqualTo(ReleaseOutcome.RELEASED);
			assertThat(redis.command("EXISTS", LOCK, QUEUE)).isEqualTo("0");
		}

		@Test
		void theReleasingJvmDoesNotNotifyItself() {
			acquire(owner);
			String self = queue();
			try (Waiter own = new Waiter(self, 1); Waiter waiter = new Waiter("waiting", FUTURE)) {
				assertThat(store.release(KEY, owner, LockMode.EXCLUSIVE)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
				assertThat(redis.command("ZRANGE", QUEUE, "0", "-1")).isEqualTo("waiting\n" + self);
				assertThat(waiter.read()).isEqualTo("stock:1001");
			}
		}

		@Test
		void theReleasingJvmNotifiesItselfWhereItStandsIfItDoesNotQueueAnew() {
			acquire(owner);
			String self = queue();
			try (Waiter own = new Waiter(self, 6); Waiter waiter = new Waiter("waiting", FUTURE)) {
				assertThat(store.release(KEY, owner, null)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
				assertThat(redis.command("ZRANGE", QUEUE, "0", "-1")).isEqualTo(self + "\nwaiting");
				assertThat(redis.command("GET", TURN)).isEqualTo(self);
				assertThat(own.read()).isEqualTo("stock:1001");
			}
		}

		@Test
		void theReleasingJvmQueuesByItsArrivalAndNotForEver() {
			acquire(owner);
			try (Waiter waiter = new Waiter("waiting", 1)) {
				long before = micros();
				assertThat(store.release(KEY, owner, LockMode.EXCLUSIVE)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
				assertThat(arrival(redis.command("ZRANGE", QUEUE, "-1", "-1"))).isBetween(before, micros());
				assertThat(ttl(QUEUE)).isBetween(Duration.ofSeconds(30), Duration.ofSeconds(60));
			}
		}

		@Test
		void theReleasingJvmQueuesBehindArrivalsAheadOfTheClock() {
			acquire(owner);
			redis.command("ZADD", QUEUE, Long.toString(2 * FUTURE), "early");
			try (Waiter waiter = new Waiter("waiting", 1)) {
				assertThat(store.release(KEY, owner, LockMode.EXCLUSIVE)).isEqualTo(ReleaseOutcome.RELEASED_TO_WAITER);
				String[] queue = redis.command("ZRANGE", QUEUE, "0", "-1").split("\n");
				assertThat(queue).hasSize(3).startsWith("waiting", "early");
				assertThat(arrival(queue[2])).isBetween(FUTURE + 1, FUTURE + 8);
			}
		}

	}

	@Nested
	class Withdraw {

		@Test
		void aWaitingJvmLeavesTheQueueAndNotifiesNoOther() {
			redis.command("SET", LOCK, "somebody-else", "PX", "60000");
			queue();
			redis.command("DEL", LOCK);
			redis.command("SET", TURN, "told", "PX", "60000");
			try (Waiter waiter = new Waiter("waiting", FUTURE)) {
				store.withdraw(KEY);
				assertThat(redis.command("ZRANGE", QUEUE, "0", "-1")).isEqualTo("waiting");
			}
		}

		@Test
		void whileTheLockIsHeldNoJvmIsNotified() {
			redis.command("SET", LOCK, "somebody-else", "PX", "60000");
			try (Waiter waiter = new Waiter("waiting", 1)) {
				store.withdraw(KEY);
				assertThat(redis.command("ZRANGE", QUEUE, "0", "-1")).isEqualTo("waiting");
			}
		}

		@Test
		void aJvmWhoseTurnItWasNotifiesTheNextOneAlive() {
			redis.command("ZADD", QUEUE, "2", "dead", "4", "dead-too");
			try (Waiter second = new Waiter("second", 7); Waiter first = new Waiter(".first", 6)) {
				store.withdraw(KEY);
				assertThat(redis.command("ZRANGE", QUEUE, "0", "-1")).isEqualTo(".first\nsecond");
				assertThat(redis.command("GET", TURN)).isEqualTo(".first");
				assertThat(first.read()).isEqualTo("stock:1001");
			}
		}

		@Test
		void aJvmThatWasNotifiedPassesItsTurnOn() {
			redis.command("SET", LOCK, "somebody-else", "PX", "60000");
			String jvm = queue();
			redis.command("DEL", LOCK);
			redis.command("SET", TURN, jvm, "PX", "60000");
			try (Waiter next = new Waiter(".next", FUTURE + 6)) {
				store.withdraw(KEY);
				assertThat(redis.command("GET", TURN)).isEqualTo(".next");
				assertThat(next.read()).isEqualTo("stock:1001");
			}
		}

		@Test
		void aQueueOfDeadWaitersIsRemoved() {
			redis.command("ZADD", QUEUE, "2", "dead", "4", "dead-too");
			store.withdraw(KEY);
			assertThat(redis.command("DBSIZE")).isEqualTo("0");
		}

		@Test
		void withoutAQueueNothingHappens() {
			store.withdraw(KEY);
			assertThat(redis.command("DBSIZE")).isEqualTo("0");
		}

	}

	@Nested
	class Server {

		@Test
		void everyScriptIsSentAgainAfterTheServerForgotIt() {
			redis.command("SCRIPT", "FLUSH");
			acquire(owner);
			redis.command("SCRIPT", "FLUSH");
			assertThat(store.renew(KEY, owner, LEASE_TIME)).isTrue();
			redis.command("SCRIPT", "FLUSH");
			assertThat(store.release(KEY, owner, null)).isEqualTo(ReleaseOutcome.RELEASED);
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
			assertThatExceptionOfType(UnusableStoreException.class).isThrownBy(() -> store.release(KEY, owner, null))
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

	private static LockGrant grant(OwnerToken owner) {
		LockAttempt attempt = store.acquire(KEY, owner, LEASE_TIME, false);
		assertThat(attempt).isInstanceOf(LockGrant.class);
		return (LockGrant) attempt;
	}

	private LockRefusal refusal(boolean queue) {
		LockAttempt attempt = store.acquire(KEY, this.other, LEASE_TIME, queue);
		assertThat(attempt).isInstanceOf(LockRefusal.class);
		return (LockRefusal) attempt;
	}

	/**
	 * Put the JVM of the store into the queue as the only one.
	 * @return the id of the JVM
	 */
	private String queue() {
		refusal(true);
		return redis.command("ZRANGE", QUEUE, "0", "-1");
	}

	private static long arrival(String jvm) {
		return Long.parseLong(redis.command("ZSCORE", QUEUE, jvm)) / 16 * 8;
	}

	private static Duration ttl(String key) {
		return Duration.ofMillis(Long.parseLong(redis.command("PTTL", key)));
	}

	private static long micros() {
		String[] time = redis.command("TIME").split("\n");
		return (Long.parseLong(time[0]) - 1704067200) * 1_000_000 + Long.parseLong(time[1]);
	}

	/**
	 * Another JVM that waits and listens.
	 */
	private static final class Waiter implements AutoCloseable {

		private final RedisSocket socket = new RedisSocket(redis.port());

		Waiter(String jvm, long arrival) {
			this.socket.command("SUBSCRIBE", "lock:wake:" + jvm);
			redis.command("ZADD", QUEUE, Long.toString(2 * arrival), jvm);
		}

		String read() {
			return this.socket.read().split("\n")[2];
		}

		@Override
		public void close() {
			this.socket.close();
		}

	}

}
