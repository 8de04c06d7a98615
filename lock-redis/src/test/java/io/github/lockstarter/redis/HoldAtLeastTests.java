// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.testsupport.EmbeddedRedis;
import io.github.lockstarter.testsupport.UnreliableNetwork;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Locks that are kept after their owner has released them.
 */
class HoldAtLeastTests {

	private static final LockRequest REQUEST = LockRequest.of("report", "today");

	private static final LockRequest AT_ONCE = REQUEST.withWaitTime(Duration.ZERO);

	private static final LockRequest FOR_AN_HOUR = REQUEST.withHoldAtLeast(Duration.ofHours(1));

	private static final String REDIS_KEY = "lock:{report:today}";

	@AutoClose
	private final EmbeddedRedis redis = EmbeddedRedis.start();

	@AutoClose
	private final RedisRegistry registry = RedisRegistry.lettuce(this.redis);

	@AutoClose
	private final RedisRegistry other = RedisRegistry.lettuce(this.redis);

	private final LockTemplate template = new LockTemplate(this.registry);

	@Test
	void afterASuccessTheLockIsKeptForTheRestOfTheTime() {
		String result = this.template.execute(FOR_AN_HOUR, (lease) -> "done");
		assertThat(result).isEqualTo("done");
		assertThat(secondsLeft()).isBetween(3500L, 3600L);
		assertThat(this.other.tryAcquire(AT_ONCE)).isEmpty();
		assertThat(this.registry.tryAcquire(AT_ONCE)).isEmpty();
		assertThat(this.registry.events()).last().isInstanceOfSatisfying(LockEvent.Contended.class, (event) -> {
		});
		assertThat(this.registry.events()).filteredOn(LockEvent.Kept.class::isInstance)
			.singleElement()
			.satisfies((event) -> assertThat(((LockEvent.Kept) event).rest()).isGreaterThan(Duration.ofMinutes(58)));
		assertThat(this.registry.events()).noneMatch(LockEvent.Released.class::isInstance);
		assertThat(this.registry.activeLocks()).isZero();
		assertThat(this.registry.backgroundActions()).isZero();
	}

	@Test
	void afterAFailureTheLockIsFreeAtOnce() {
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute(FOR_AN_HOUR, (lease) -> {
			throw new IllegalStateException("expected by the test");
		}));
		this.other.acquire(REQUEST).close();
	}

	@Test
	void aWaiterTakesOverFromARunnerThatFails() throws Exception {
		List<Long> runners = new CopyOnWriteArrayList<>();
		List<Call<Boolean>> waiters = new ArrayList<>();
		try (RedisRegistry third = RedisRegistry.lettuce(this.redis)) {
			assertThatIllegalStateException().isThrownBy(() -> this.template.execute(FOR_AN_HOUR, (lease) -> {
				runners.add(lease.fencingToken());
				waiters.add(Callers.start(() -> runOrSkip(this.other, runners)).awaitParked());
				waiters.add(Callers.start(() -> runOrSkip(third, runners)).awaitParked());
				throw new IllegalStateException("expected by the test");
			}));
			assertThat(List.of(waiters.get(0).get(), waiters.get(1).get())).containsExactlyInAnyOrder(true, false);
		}
		assertThat(runners).hasSize(2).isSorted();
		assertThat(secondsLeft()).isGreaterThan(3500);
	}

	@Test
	void aSuccessWithinAFailureCountsForNothing() {
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute(FOR_AN_HOUR, (lease) -> {
			this.template.execute(FOR_AN_HOUR, (inner) -> "done");
			throw new IllegalStateException("expected by the test");
		}));
		this.other.acquire(REQUEST).close();
	}

	@Test
	void aBodyThatTakesLongerGivesTheLockBackAtItsEnd() {
		LockRequest request = REQUEST.withHoldAtLeast(Duration.ofMillis(20));
		this.template.execute(request, (lease) -> {
			long start = System.nanoTime();
			Awaitility.await().until(() -> System.nanoTime() - start > TimeUnit.MILLISECONDS.toNanos(40));
			return null;
		});
		Awaitility.await().until(() -> this.redis.command("EXISTS", REDIS_KEY).equals("0"));
		assertThat(this.registry.events()).last().isInstanceOf(LockEvent.Released.class);
	}

	@Test
	void aWaiterOfTheSameInstanceIsNotHandedTheLock() throws Exception {
		Lease lease = this.registry.acquire(REQUEST);
		Call<Boolean> waiter = Callers
			.start(() -> this.registry.tryAcquire(REQUEST.withWaitTime(Duration.ofSeconds(3))).isPresent())
			.awaitParked();
		lease.holdAtLeast(Duration.ofHours(1));
		lease.close();
		assertThat(waiter.get()).isFalse();
		assertThat(secondsLeft()).isGreaterThan(3500);
	}

	@Test
	void anInstanceThatEndsLeavesTheLockTaken() {
		try (RedisRegistry ending = RedisRegistry.lettuce(this.redis)) {
			new LockTemplate(ending).execute(FOR_AN_HOUR, (lease) -> "done");
		}
		assertThat(this.other.tryAcquire(AT_ONCE)).isEmpty();
	}

	@Test
	void theLastWishCountsAndZeroTakesItBack() {
		try (Lease lease = this.registry.acquire(REQUEST)) {
			lease.holdAtLeast(Duration.ofHours(1));
			lease.holdAtLeast(Duration.ZERO);
		}
		this.other.acquire(REQUEST).close();
	}

	@Test
	void aReentrantLeaseMayWishForTheWhole() {
		try (Lease outer = this.registry.acquire(REQUEST)) {
			try (Lease inner = this.registry.acquire(REQUEST)) {
				inner.holdAtLeast(Duration.ofHours(1));
			}
			assertThat(secondsLeft()).isLessThan(31);
		}
		assertThat(secondsLeft()).isGreaterThan(3500);
	}

	@Test
	void aLostLockIsNotKept() {
		Lease lease = this.registry.acquire(REQUEST);
		this.redis.command("SET", REDIS_KEY, "somebody-else", "PX", "60000");
		lease.holdAtLeast(Duration.ofHours(1));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close)
			.withMessageContaining("when it should be kept");
		assertThat(secondsLeft()).isLessThan(61);
	}

	@Test
	void whileRedisIsSilentTheWishIsKeptForLater() {
		Lease lease = this.registry.acquire(REQUEST);
		lease.holdAtLeast(Duration.ofHours(1));
		this.redis.command("CLIENT", "PAUSE", "2500", "WRITE");
		lease.close();
		Awaitility.await().until(() -> secondsLeft() > 3500 && this.registry.backgroundActions() == 0);
	}

	@Test
	void aRenewalThatIsUnderWayDoesNotShortenTheTime() throws Exception {
		try (UnreliableNetwork network = UnreliableNetwork.to(this.redis.port());
				RedisRegistry instance = RedisRegistry.jedis(network.port(),
						RedisRegistry.often(Duration.ofSeconds(15)))) {
			Lease lease = instance.acquire(REQUEST);
			lease.holdAtLeast(Duration.ofHours(1));
			network.holdBack(LockScript.RENEW.digest());
			network.awaitHeld();
			lease.close();
			assertThat(secondsLeft()).isGreaterThan(3500);
			long renewals = this.redis.calls("mget");
			network.letGo();
			Awaitility.await().until(() -> this.redis.calls("mget") > renewals);
			assertThat(secondsLeft()).isGreaterThan(3500);
			assertThat(instance.events()).noneMatch(LockEvent.Lost.class::isInstance);
		}
	}

	@Test
	void aLostAnswerToTheWishIsNoLoss() throws Exception {
		try (UnreliableNetwork network = UnreliableNetwork.to(this.redis.port());
				RedisRegistry instance = RedisRegistry.jedis(network.port(), RedisRegistry.SETTINGS)) {
			Lease lease = instance.acquire(REQUEST);
			lease.holdAtLeast(Duration.ofHours(1));
			network.loseAnswerTo(LockScript.KEEP.digest());
			lease.close();
			assertThat(network.lostAnswers()).isEqualTo(1);
			Awaitility.await().until(() -> instance.backgroundActions() == 0);
			assertThat(secondsLeft()).isGreaterThan(3500);
			assertThat(instance.events()).noneMatch(LockEvent.Lost.class::isInstance);
		}
	}

	@Test
	void aTimeHasBoundsAndAClosedLeaseIgnoresIt() {
		Lease lease = this.registry.acquire(REQUEST);
		assertThatIllegalArgumentException().isThrownBy(() -> lease.holdAtLeast(Duration.ofNanos(-1)))
			.withMessage("'time' must not be negative or longer than 365 days, but was PT-0.000000001S");
		assertThatIllegalArgumentException().isThrownBy(() -> lease.holdAtLeast(Duration.ofDays(366)));
		lease.close();
		lease.holdAtLeast(Duration.ofHours(1));
		this.other.acquire(REQUEST).close();
	}

	private static boolean runOrSkip(RedisRegistry instance, List<Long> runners) {
		return new LockTemplate(instance).executeOrElse(FOR_AN_HOUR.withWaitTime(Duration.ofSeconds(6)),
				(lease) -> runners.add(lease.fencingToken()), (contention) -> false);
	}

	private long secondsLeft() {
		return Long.parseLong(this.redis.command("PTTL", REDIS_KEY)) / 1000;
	}

}
