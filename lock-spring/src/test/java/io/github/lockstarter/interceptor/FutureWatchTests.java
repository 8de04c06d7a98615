// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class FutureWatchTests {

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	private final FutureWatch watch = new FutureWatch();

	@Test
	void theOutcomeIsThatOfThePlainFuture() {
		assertThat(this.watch.follow(done(new FutureTask<>(() -> "done")))).succeedsWithin(PATIENCE).isEqualTo("done");
		assertThat(this.watch.follow(done(new FutureTask<>(() -> {
			throw new IOException("out of order");
		})))).failsWithin(PATIENCE).withThrowableThat().withCauseInstanceOf(IOException.class);
	}

	@Test
	void aCancelledFutureStaysCancelled() {
		FutureTask<String> cancelled = new FutureTask<>(() -> "done");
		cancelled.cancel(true);
		assertThat(this.watch.follow(cancelled)).isCompletedExceptionally();
		assertThatExceptionOfType(CancellationException.class).isThrownBy(() -> this.watch.follow(cancelled).join());
	}

	@Test
	void aThreadThatIsInterruptedMayFollowAFuture() {
		CompletableFuture<String> later = new CompletableFuture<>();
		Thread.currentThread().interrupt();
		CompletableFuture<String> followed = this.watch.follow(later);
		assertThat(Thread.interrupted()).isTrue();
		later.complete("done");
		assertThat(followed).succeedsWithin(PATIENCE).isEqualTo("done");
	}

	private static <T> Future<T> done(FutureTask<T> task) {
		task.run();
		return task;
	}

}
