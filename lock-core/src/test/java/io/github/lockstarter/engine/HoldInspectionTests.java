// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.store.LockInspection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What an instance shows of a lock that it holds itself, and how it is freed. No time
 * passes unless a test says so.
 */
class HoldInspectionTests extends AbstractInstancesTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	private final DefaultLockRegistry registry = registry(this.store, Duration.ofSeconds(30), Duration.ofMinutes(1));

	private final DefaultLockRegistry elsewhere = registry(this.instances.store(), Duration.ofSeconds(30),
			Duration.ofMinutes(1));

	private static boolean free(DefaultLockRegistry registry, long token) {
		return registry.inspection().orElseThrow().free(KEY, token).toCompletableFuture().join();
	}

	private static LockInspection.State state(DefaultLockRegistry registry) {
		return registry.inspection().orElseThrow().inspect(KEY).toCompletableFuture().join();
	}

	private static void assertLost(Lease lease) {
		assertThat(lease.isHeld()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
	}

	@Test
	void anOwnerInThisInstanceLosesAFreedLockAtOnceAndTheNextWaiterGetsIt() {
		Lease lease = this.registry.acquire(REQUEST);
		CompletableFuture<LockLostException> told = new CompletableFuture<>();
		lease.onLost(told::complete);
		CompletableFuture<Lease> waiter = this.registry.acquireAsync(REQUEST);
		assertThat(free(this.registry, lease.fencingToken())).isTrue();
		assertThat(lease.isHeld()).isFalse();
		assertThat(told.join()).hasMessageContaining("was lost: it was freed");
		Lease next = waiter.join();
		assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
		assertLost(lease);
		assertThat(next.isHeld()).isTrue();
		next.close();
		Awaitility.await().until(() -> this.events.stream().anyMatch(LockEvent.Lost.class::isInstance));
		advanceUntilNothingIsLeft(this.registry);
	}

	@Test
	void theTokenOfAnEarlierHoldOfAHandOffFreesNothingHere() {
		Lease first = this.registry.acquire(REQUEST);
		CompletableFuture<Lease> waiter = this.registry.acquireAsync(REQUEST);
		first.close();
		Lease second = waiter.join();
		assertThat(LockInspection.baseOf(second.fencingToken())).isEqualTo(LockInspection.baseOf(first.fencingToken()));
		assertThat(free(this.registry, first.fencingToken())).isFalse();
		assertThat(free(this.registry, second.fencingToken() + 1)).isFalse();
		assertThat(second.isHeld()).isTrue();
		assertThat(state(this.registry).fencingToken()).isEqualTo(second.fencingToken());
		assertThat(state(this.registry).holders()).extracting(LockInspection.Holder::fencingToken)
			.containsExactly(second.fencingToken());
		assertThat(free(this.registry, second.fencingToken())).isTrue();
		assertLost(second);
		advanceUntilNothingIsLeft(this.registry);
	}

	@Test
	void anotherInstanceKnowsOnlyTheOwnershipAndFreesItByTheTokenThatItShows() {
		Lease first = this.registry.acquire(REQUEST);
		CompletableFuture<Lease> waiter = this.registry.acquireAsync(REQUEST);
		first.close();
		Lease second = waiter.join();
		assertThat(state(this.elsewhere).fencingToken()).isEqualTo(first.fencingToken());
		assertThat(free(this.elsewhere, first.fencingToken())).isTrue();
		this.elsewhere.acquire(REQUEST).close();
		this.time.advance(Duration.ofSeconds(10));
		assertLost(second);
		advanceUntilNothingIsLeft(this.registry, this.elsewhere);
	}

	@Test
	void eachReaderOfAnInstanceLosesASharedLockThatIsFreed() {
		Lease one = this.registry.acquireAsync(REQUEST.withMode(LockMode.READ)).join();
		Lease other = this.registry.acquireAsync(REQUEST.withMode(LockMode.READ)).join();
		Lease stays = this.elsewhere.acquire(REQUEST.withMode(LockMode.READ));
		assertThat(free(this.registry, one.fencingToken())).isTrue();
		assertLost(one);
		assertLost(other);
		assertThat(stays.isHeld()).isTrue();
		stays.close();
	}

	@Test
	void anOwnerAsksAtOnceIfTheOutcomeOfFreeingIsNotKnown() {
		Lease lease = this.registry.acquire(REQUEST);
		this.store.inspect.loseAnswers(() -> true);
		CompletableFuture<Boolean> answer = this.registry.inspection()
			.orElseThrow()
			.free(KEY, lease.fencingToken())
			.toCompletableFuture();
		assertThat(answer).isCompletedExceptionally();
		// Renewals that are due soon after one another are sent together
		this.time.advance(Duration.ofMillis(100));
		assertLost(lease);
		this.store.inspect.loseAnswers(() -> false);
		advanceUntilNothingIsLeft(this.registry);
	}

}
