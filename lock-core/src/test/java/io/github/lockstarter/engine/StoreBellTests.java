// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class StoreBellTests {

	private static final long LONG = Duration.ofMinutes(5).toNanos();

	private final StoreBell bell = new StoreBell();

	private final CompletableFuture<LockAttempt> answer = new CompletableFuture<>();

	private final AtomicInteger requests = new AtomicInteger();

	@Test
	void wakesTheCallerToTheAnswerOfTheRequestThatItSends() throws Exception {
		Call<SentRequest> call = await(LONG, this::send);
		this.bell.ring();
		assertThat(call.result()).isNotDone();
		this.answer.complete(new LockGrant(1, false));
		assertThat(call.get().get()).isEqualTo(new LockGrant(1, false));
	}

	@Test
	void sendsTheRequestOnce() throws Exception {
		Call<SentRequest> call = await(LONG, this::send);
		this.bell.ring();
		this.bell.ring();
		this.answer.complete(new LockGrant(1, false));
		call.get();
		this.bell.ring();
		assertThat(this.requests).hasValue(1);
	}

	@Test
	void wakesTheCallerIfTheRequestCannotBeSent() throws Exception {
		Call<SentRequest> call = await(LONG, () -> null);
		this.bell.ring();
		assertThat(call.get()).isNull();
	}

	@Test
	void wakesTheCallerWithoutSendingAnythingAtShutdown() throws Exception {
		Call<SentRequest> call = await(LONG, this::send);
		this.bell.wake();
		assertThat(call.get()).isNull();
		assertThat(this.requests).hasValue(0);
	}

	@Test
	void anEarlierRingIsNotMissed() throws Exception {
		this.bell.ring();
		assertThat(await(LONG, this::send).get()).isNull();
	}

	@Test
	void aCallerThatIsInterruptedKnowsOfTheRequestThatWasSent() throws Exception {
		Call<SentRequest> call = await(LONG, this::send);
		this.bell.ring();
		call.thread().interrupt();
		SentRequest request = call.get();
		assertThat(request.sentAt()).isEqualTo(42);
		assertThatIllegalStateException().isThrownBy(request::get);
	}

	@Test
	void aCallerWhoseTimeIsOverWaitsForTheAnswerToWhatWasSent() throws Exception {
		CompletableFuture<Caller> caller = new CompletableFuture<>();
		Call<SentRequest> call = Callers.start(() -> {
			caller.complete(Caller.interruptible(Duration.ofSeconds(2), LockMode.EXCLUSIVE, null));
			return this.bell.await(caller.join(), LONG, this::send);
		}).awaitParked();
		this.bell.ring();
		assertThat(this.requests).hasValue(1);
		while (!caller.join().isOutOfTime()) {
			Thread.onSpinWait();
		}
		call.awaitParked();
		assertThat(call.result()).isNotDone();
		this.answer.complete(new LockGrant(1, false));
		assertThat(call.get().get()).isEqualTo(new LockGrant(1, false));
	}

	@Test
	void aCallerThatHasLeftSendsNothing() throws Exception {
		assertThat(await(1, this::send).get()).isNull();
		this.bell.ring();
		assertThat(this.requests).hasValue(0);
	}

	private Call<SentRequest> await(long nanos, Supplier<SentRequest> request) throws InterruptedException {
		Call<SentRequest> call = Callers.start(() -> this.bell
			.await(Caller.interruptible(Duration.ofMinutes(5), LockMode.EXCLUSIVE, null), nanos, request));
		while (nanos == LONG && !call.result().isDone() && call.thread().getState() != Thread.State.TIMED_WAITING) {
			Thread.onSpinWait();
		}
		return call;
	}

	private SentRequest send() {
		this.requests.incrementAndGet();
		return new SentRequest(42, true, this.answer);
	}

}
