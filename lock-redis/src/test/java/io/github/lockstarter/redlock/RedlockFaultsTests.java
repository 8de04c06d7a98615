// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.DelegatingStore;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.test.StoreClient;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Servers that are down or silent, and votes that are shared.
 */
@ExtendWith(OutputCaptureExtension.class)
class RedlockFaultsTests extends AbstractRedlockTests {

	@Test
	void aServerThatIsDownDelaysNobody() throws Exception {
		this.servers.get(2).kill();
		assertLocksWorkAtOnce();
	}

	@Test
	void aSilentServerDelaysNobodyAndKeepsNoLockAfterwards() throws Exception {
		this.servers.get(2).pause();
		assertLocksWorkAtOnce();
		this.servers.get(2).resume();
		this.servers.awaitFree();
		assertThat(this.servers.get(2).calls("del")).isPositive();
	}

	@Test
	void twoOfFiveServersMayFailInDifferentWays() throws Exception {
		try (RedlockServers five = RedlockServers.start(5); RedlockStore store = five.store(ENDLESS)) {
			five.get(1).kill();
			five.get(3).pause();
			assertLocksWorkAtOnce(new StoreClient(store));
		}
	}

	@Test
	@Tag("clock")
	void withoutAMajorityALockIsUnavailableAndNotContended() {
		try (RedlockStore impatient = this.servers.impatientStore(ENDLESS);
				DefaultLockRegistry registry = new DefaultLockRegistry(impatient)) {
			LockRequest request = LockRequest.of(KEY);
			registry.acquire(request).close();
			this.servers.get(0).kill();
			this.servers.get(1).pause();
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> grantedByAMinority(registry.acquire(request.withWaitTime(Duration.ofMillis(600)))))
				.havingRootCause()
				.isNotNull();
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> registry.tryAcquire(request.withWaitTime(Duration.ZERO))
					.ifPresent(RedlockFaultsTests::grantedByAMinority));
			this.servers.get(1).resume();
			registry.acquire(request).close();
		}
		this.servers.get(0).restart();
	}

	private static void grantedByAMinority(Lease lease) {
		throw new SafetyViolation("a minority granted " + lease);
	}

	@Test
	@Tag("clock")
	void theFailureSaysThatAMajorityIsMissingAndWhy(CapturedOutput output) {
		this.servers.get(0).kill();
		this.servers.get(1).kill();
		try (RedlockStore store = this.servers.store(PATIENT);
				DefaultLockRegistry registry = new DefaultLockRegistry(store)) {
			// On a busy machine, the other server may not answer at once
			Awaitility.await()
				.untilAsserted(() -> assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> registry.tryAcquire(LockRequest.of(KEY).withWaitTime(Duration.ZERO))
						.ifPresent(RedlockFaultsTests::grantedByAMinority))
					.withMessageStartingWith(
							"Lock 'stock:1001' is unavailable: the store could not be asked (127.0.0.1:")
					.withMessageContainingAll(
							", database 0: A majority of the 3 Redis servers is needed,"
									+ " but only 1 could vote (Connection refused: ",
							":" + this.servers.port(0), ":" + this.servers.port(1)));
		}
		String address = "127.0.0.1:" + this.servers.port(0);
		assertThat(output).contains(
				address + ", database 0 cannot be asked for locks, so the other servers decide: Connection refused: ");
		this.servers.get(0).restart();
		this.servers.get(1).restart();
	}

	@Test
	@Tag("clock")
	void votesOfOwnersThatCannotWinAreGivenUp() {
		this.servers.get(0).command("SET", RedlockServers.LOCK, "somebody", "PX", "15");
		this.servers.get(1).command("SET", RedlockServers.LOCK, "another", "PX", "15");
		grant(this.one, this.owner);
	}

	/** The renewal reaches one server at once, and another one later. */
	@Test
	@Tag("clock")
	void aLockThatIsReleasedBeforeItsRenewalArrivesIsFree() throws InterruptedException {
		CountDownLatch renewed = new CountDownLatch(1);
		AtomicReference<Lease> lease = new AtomicReference<>();
		RedlockStore impatient = this.servers.impatientStore(ENDLESS);
		LockStore late = new RenewingLate(impatient, () -> {
			this.servers.get(2).kill();
			lease.get().close();
			List.of(0, 1).forEach((i) -> Awaitility.await().until(() -> isFree(this.servers.get(i))));
			this.servers.get(1).pause();
		}, renewed);
		EngineSettings defaults = EngineSettings.DEFAULTS;
		EngineSettings settings = new EngineSettings(defaults.waitTime(), Duration.ofSeconds(8), 20,
				defaults.pollInterval(), defaults.pollIntervalWithoutMessages(), defaults.timeSlice(),
				defaults.shutdownTimeout());
		try (impatient; DefaultLockRegistry registry = new DefaultLockRegistry(late, settings, LockListener.NO_OP)) {
			lease.set(registry.acquire(LockRequest.of(KEY)));
			assertThat(renewed.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
			this.servers.get(1).resume();
			this.servers.get(2).restart();
			this.servers.awaitFree();
		}
	}

	private static boolean isFree(RedisServer server) {
		return server.command("EXISTS", RedlockServers.LOCK).equals("0");
	}

	@Test
	void ofTwoOwnersThatAskAtTheSameTimeOneIsGranted() {
		for (int i = 0; i < 100; i++) {
			assertOneIsGranted(this.store, this.otherStore);
		}
		this.servers.awaitFree();
	}

	/** Each of them may have one vote, and would wait for another one. */
	@Test
	@FullProfileOnly
	@Tag("clock")
	void ofTwoOwnersThatAskAtTheSameTimeOneIsGrantedWithoutASilentServer() throws Exception {
		RedlockSettings settings = RedlockServers.nodeTimeout(Duration.ofSeconds(4));
		try (RedlockStore first = this.servers.store(settings); RedlockStore second = this.servers.store(settings)) {
			this.servers.get(2).pause();
			letTimeOut(settings.nodeTimeout(), new StoreClient(first), new StoreClient(second));
			// Whoever waits for the silent server does so for two seconds each time
			Callers.start(() -> {
				for (int i = 0; i < 100; i++) {
					assertOneIsGranted(first, second);
				}
				return null;
			}).get();
			this.servers.get(2).resume();
			this.servers.awaitFree();
		}
	}

	/** From then on, neither instance waits for the silent server. */
	@Tag("clock")
	private static void letTimeOut(Duration timeout, StoreClient first, StoreClient second) {
		long enough = timeout.plusSeconds(1).toNanos();
		for (long start = System.nanoTime(); System.nanoTime() - start < enough;) {
			for (StoreClient client : List.of(first, second)) {
				OwnerToken owner = OwnerToken.random();
				grant(client, owner);
				client.release(KEY, owner);
			}
		}
	}

	private static void assertOneIsGranted(RedlockStore store, RedlockStore otherStore) {
		OwnerToken first = OwnerToken.random();
		OwnerToken second = OwnerToken.random();
		CompletableFuture<AcquireResult> answer = ask(store, first);
		CompletableFuture<AcquireResult> otherAnswer = ask(otherStore, second);
		boolean granted = answer.join() instanceof AcquireResult.Grant;
		boolean otherGranted = otherAnswer.join() instanceof AcquireResult.Grant;
		SafetyViolation.check(!(granted && otherGranted), "two owners of '%s'", KEY);
		assertThat(granted || otherGranted).isTrue();
		StoreClient holder = new StoreClient(granted ? store : otherStore);
		assertThat(holder.release(KEY, granted ? first : second)).isTrue();
	}

	@Test
	void aRefusalStatesWhenAMajorityMayBeFree() {
		for (int i = 0; i < 3; i++) {
			String lease = String.valueOf(400_000 + 100_000 * i);
			this.servers.get(i).command("SET", RedlockServers.LOCK, "somebody", "PX", lease);
		}
		// The second lease that ends, of those on the two servers that have answered
		// first
		assertThat(acquire(this.one, this.owner)).isInstanceOfSatisfying(AcquireResult.Refusal.class,
				(refusal) -> assertThat(refusal.remaining()).isGreaterThan(Duration.ofSeconds(420)));
		for (int i = 0; i < 3; i++) {
			this.servers.get(i).command("PERSIST", RedlockServers.LOCK);
		}
		assertThat(acquire(this.one, this.owner)).isEqualTo(new AcquireResult.Refusal(null, "a foreign owner"));
	}

	/**
	 * A store in which something happens between the decision to renew a lease and the
	 * request.
	 */
	private static final class RenewingLate extends DelegatingStore {

		private final Runnable before;

		private final CountDownLatch answered;

		RenewingLate(LockStore delegate, Runnable before, CountDownLatch answered) {
			super(delegate);
			this.before = before;
			this.answered = answered;
		}

		@Override
		public List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
			this.before.run();
			List<CompletionStage<Boolean>> answers = super.renew(requests);
			answers.get(0).whenComplete((owned, ex) -> this.answered.countDown());
			return answers;
		}

	}

	private void assertLocksWorkAtOnce() throws Exception {
		assertLocksWorkAtOnce(this.one);
	}

	private static void assertLocksWorkAtOnce(StoreClient client) throws Exception {
		Callers.start(() -> {
			for (int i = 0; i < 20; i++) {
				OwnerToken next = OwnerToken.random();
				grant(client, next);
				mustNotGet(client, OwnerToken.random());
				assertThat(client.renew(KEY, next, LEASE_TIME)).isTrue();
				assertThat(client.release(KEY, next)).isTrue();
			}
			return null;
		}).get();
	}

}
