// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.testsupport.EmbeddedRedis;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Problems with locks that users of Redisson have reported, by the number of the issue.
 * Each test is named after the promise that must hold here. Others are tested elsewhere:
 * 7325 and 6702 in {@link CommandBudgetTests}, 5256 in
 * {@link ReplicaAcknowledgementTests}, 3593 in
 * {@link CommandBudgetTests#aHandOffIsNone()}, and 4822 and 4706 by the failovers of the
 * fault suite.
 */
class RedissonIssuesTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	private static final String REDIS_KEY = "lock:{stock:1001}";

	private static final int INSTANCES = 3;

	@AutoClose
	private final EmbeddedRedis redis = EmbeddedRedis.start();

	@AutoClose
	private final RedisRegistry registry = RedisRegistry.lettuce(this.redis);

	@AutoClose
	private final RedisRegistry other = RedisRegistry.lettuce(this.redis);

	@AutoClose
	private final RedisRegistry renewing = RedisRegistry.lettuce(this.redis,
			RedisRegistry.often(Duration.ofSeconds(6)));

	@BeforeEach
	void warmUp() {
		List.of(this.registry, this.other, this.renewing)
			.forEach((registry) -> registry.acquire(LockRequest.of("warm", "up")).close());
	}

	/** 7272. */
	@Test
	void aLockIsNotRenewedAfterItsRelease() throws Exception {
		List<Call<Boolean>> callers = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			callers.add(Callers.start(() -> {
				for (int n = 0; n < 200; n++) {
					this.renewing.acquire(REQUEST).close();
				}
				return true;
			}));
		}
		for (Call<Boolean> caller : callers) {
			assertThat(caller.get()).isTrue();
		}
		Awaitility.await().until(() -> this.renewing.backgroundActions() == 0);
		assertThat(this.redis.command("EXISTS", REDIS_KEY)).isEqualTo("0");
	}

	/** 4698, 3854. */
	@Test
	void theLossOfALockIsNotKeptFromItsOwner() throws Exception {
		Lease lease = this.renewing.acquire(REQUEST);
		CountDownLatch told = new CountDownLatch(1);
		lease.onLost((loss) -> told.countDown());
		this.redis.command("DEL", REDIS_KEY);
		assertThat(told.await(10, TimeUnit.SECONDS)).isTrue();
		assertThat(lease.isHeld()).isFalse();
		Awaitility.await().until(() -> this.renewing.events().stream().anyMatch(LockEvent.Lost.class::isInstance));
	}

	/** 4178, 4109, 1966. */
	@Test
	@FullProfileOnly
	void aReleaseWhoseAnswerIsLateDoesNotLeaveTheLockWithItsThread() {
		Lease lease = this.renewing.acquire(REQUEST);
		this.redis.command("CLIENT", "PAUSE", "2500", "WRITE");
		lease.close();
		this.renewing.acquire(REQUEST).close();
		this.other.acquire(REQUEST).close();
		Awaitility.await().until(() -> this.renewing.backgroundActions() == 0);
		assertThat(this.redis.command("EXISTS", REDIS_KEY)).isEqualTo("0");
	}

	/** 4178 as well: the request completes after its caller has given up. */
	@Test
	@FullProfileOnly
	void anAcquisitionThatIsDoneTooLateDoesNotLeaveTheLockTaken() {
		this.redis.command("CLIENT", "PAUSE", "2500", "WRITE");
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.registry.acquire(REQUEST.withWaitTime(Duration.ofMillis(100))));
		long start = System.nanoTime();
		this.other.acquire(REQUEST).close();
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(15));
	}

	/** 6844, 6878, 3580, 1824, 2224, 4975. */
	@Test
	void aLeaseDoesNotBelongToTheThreadThatTookIt() {
		Lease lease = this.registry.acquire(REQUEST);
		CompletableFuture.runAsync(lease::close).join();
		this.other.acquire(REQUEST).close();
	}

	/** 5761, 3891, 6540, 763. */
	@Test
	void aMissedMessageDoesNotCostALease() throws Exception {
		Lease lease = this.registry.acquire(REQUEST);
		Call<Boolean> waiter = waiter(this.other);
		Awaitility.await().until(() -> this.redis.command("ZCARD", REDIS_KEY + ":queue").equals("1"));
		this.redis.command("CLIENT", "KILL", "TYPE", "pubsub");
		lease.close();
		long start = System.nanoTime();
		assertThat(waiter.get()).isTrue();
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(15));
	}

	/** 4216, 1847, 5046, 5299, 5219, 995, 6328. */
	@Test
	void aSubscriptionPerLockDoesNotRunOut() throws Exception {
		List<Lease> leases = new ArrayList<>();
		List<Call<Boolean>> waiters = new ArrayList<>();
		for (int i = 0; i < 300; i++) {
			LockRequest request = LockRequest.of("many", i);
			leases.add(this.registry.acquire(request));
			waiters.add(Callers.start(() -> {
				this.other.acquire(request).close();
				return true;
			}));
		}
		Awaitility.await()
			.until(() -> this.redis.command("KEYS", "*:queue").lines().filter((key) -> !key.isEmpty()).count() == 300);
		assertThat(this.redis.command("PUBSUB", "CHANNELS").lines()).hasSizeLessThanOrEqualTo(INSTANCES);
		leases.forEach(Lease::close);
		for (Call<Boolean> waiter : waiters) {
			assertThat(waiter.get()).isTrue();
		}
	}

	/** 5697, 5698, 3194, 3712, 6144. */
	@Test
	@FullProfileOnly
	void renewalDoesNotForgetALockNowAndThen() {
		List<Lease> leases = new ArrayList<>();
		for (int i = 0; i < 50; i++) {
			leases.add(this.renewing.acquire(LockRequest.of("stock", i)));
		}
		long renewals = this.redis.calls("pexpire");
		// Longer than a lease, in which a lock that was forgotten once may survive
		Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> this.redis.calls("pexpire") >= renewals + 50 * 22);
		assertThat(leases).allMatch(Lease::isHeld);
		leases.forEach(Lease::close);
		assertThat(this.renewing.events()).noneMatch(LockEvent.Lost.class::isInstance);
	}

	/** 6303, 6962. */
	@Test
	@FullProfileOnly
	void manyLocksAreNotTooMuchForTheWatchdog() {
		int renewalsPerLease = 6;
		try (RedisRegistry many = RedisRegistry.lettuce(this.redis,
				RedisRegistry.leaseTime(Duration.ofSeconds(12), renewalsPerLease))) {
			List<Lease> leases = new ArrayList<>();
			for (int i = 0; i < 5000; i++) {
				leases.add(many.acquire(LockRequest.of("stock", i)));
			}
			long renewals = this.redis.calls("pexpire");
			Awaitility.await()
				.atMost(Duration.ofMinutes(1))
				.until(() -> this.redis.calls("pexpire") >= renewals + 5000 * renewalsPerLease);
			assertThat(leases).allMatch(Lease::isHeld);
			leases.forEach(Lease::close);
		}
	}

	/** 2714, 4368, 3521. */
	@Test
	void aLockWhoseCallerWasInterruptedIsNotRenewedForEver() throws Exception {
		this.redis.command("CLIENT", "PAUSE", "20000", "WRITE");
		Call<Boolean> caller = Callers.start(() -> {
			try (Lease lease = this.renewing.acquire(REQUEST)) {
				return false;
			}
			catch (LockInterruptedException ex) {
				return true;
			}
		}).awaitParked();
		caller.thread().interrupt();
		assertThat(caller.get()).isTrue();
		this.redis.command("CLIENT", "UNPAUSE");
		this.other.acquire(REQUEST).close();
		Awaitility.await().until(() -> this.renewing.backgroundActions() == 0);
		assertThat(this.redis.command("EXISTS", REDIS_KEY)).isEqualTo("0");
	}

	/** 6510. */
	@Test
	void theKeyOfAFencingTokenDoesNotLiveForEver() {
		this.registry.acquire(REQUEST).close();
		assertThat(Long.parseLong(this.redis.command("PTTL", REDIS_KEY + ":fence"))).isPositive();
	}

	/** 4818. */
	@Test
	void theLeaseTimeOfAnEarlierCallDoesNotReachTheNext() {
		this.registry.acquire(REQUEST.withLeaseTime(Duration.ofSeconds(5))).close();
		try (Lease lease = this.registry.acquire(REQUEST)) {
			assertThat(Long.parseLong(this.redis.command("PTTL", REDIS_KEY))).isGreaterThan(20_000);
			assertThat(lease.remaining()).isGreaterThan(Duration.ofSeconds(20));
		}
	}

	/** 2355, 3393. */
	@Test
	@FullProfileOnly
	void aReleaseDoesNotWaitForEverForAServerThatIsSilent() {
		Lease lease = this.registry.acquire(REQUEST);
		this.redis.command("CLIENT", "PAUSE", "20000", "ALL");
		long start = System.nanoTime();
		lease.close();
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
		this.redis.kill();
		this.redis.restart();
	}

	/** 1326, 2575, 6131, 6832. */
	@Test
	@FullProfileOnly
	void nothingIsKeptForALockThatNobodyHasOrWants() throws Exception {
		List<Call<Boolean>> callers = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			callers.add(Callers.start(() -> {
				for (int n = 0; n < 500; n++) {
					this.registry.acquire(LockRequest.of("stock", n)).close();
				}
				return true;
			}));
		}
		for (Call<Boolean> caller : callers) {
			assertThat(caller.get()).isTrue();
		}
		Awaitility.await().until(() -> this.registry.activeLocks() == 0 && this.registry.backgroundActions() == 0);
		assertThat(this.redis.command("PUBSUB", "CHANNELS").lines().filter((channel) -> !channel.isEmpty()))
			.hasSizeLessThanOrEqualTo(INSTANCES);
	}

	/** 3636, 3187. */
	@Test
	@FullProfileOnly
	void anOwnerThatIsCutOffDoesNotBelieveInItsLockForEver() {
		try (RedisRegistry cutOff = RedisRegistry.lettuce(this.redis, RedisRegistry.leaseTime(Duration.ofSeconds(2)))) {
			Lease lease = cutOff.acquire(REQUEST);
			this.redis.kill();
			Awaitility.await().until(() -> !lease.isHeld());
			Awaitility.await().until(() -> cutOff.events().stream().anyMatch(LockEvent.Lost.class::isInstance));
			this.redis.restart();
		}
	}

	private static Call<Boolean> waiter(RedisRegistry registry) {
		return Callers.start(() -> {
			registry.acquire(REQUEST).close();
			return true;
		});
	}

}
