// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ConnectAttemptsTests {

	private final CountDownLatch connecting = new CountDownLatch(1);

	private final CountDownLatch ready = new CountDownLatch(1);

	private final AtomicInteger attempts = new AtomicInteger();

	private final ConnectAttempts<String> connects = new ConnectAttempts<>(this::connect);

	private String connect() throws InterruptedException {
		this.connecting.countDown();
		this.ready.await();
		if (this.attempts.incrementAndGet() == 1) {
			throw new IllegalStateException("refused");
		}
		return "connection";
	}

	@Test
	void thoseThatWaitComeInTheirOrderAndBeforeAllOthers() {
		this.attempts.incrementAndGet();
		List<Integer> served = new ArrayList<>();
		List<String> seen = new ArrayList<>();
		List<CompletableFuture<Void>> waiting = IntStream.range(0, 100)
			.mapToObj((i) -> this.connects.connected().thenAccept((connection) -> {
				served.add(i);
				seen.add(String.valueOf(this.connects.connection()));
			}))
			.toList();
		assertThat(this.connects.connection()).isNull();
		this.ready.countDown();
		waiting.forEach(CompletableFuture::join);
		assertThat(served).containsExactlyElementsOf(IntStream.range(0, 100).boxed().toList());
		assertThat(seen).containsOnly("null");
		Awaitility.await().until(() -> this.connects.connection() != null);
		assertThat(this.connects.connected()).isCompletedWithValue("connection");
	}

	@Test
	void aFailureEndsAllThatWaitAndTheNextOneConnectsAnew() {
		CompletableFuture<String> one = this.connects.connected();
		CompletableFuture<String> other = this.connects.connected();
		this.ready.countDown();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(one::join).withMessageContaining("refused");
		assertThatExceptionOfType(CompletionException.class).isThrownBy(other::join).withMessageContaining("refused");
		assertThat(this.connects.connected().join()).isEqualTo("connection");
		assertThat(this.attempts).hasValue(2);
	}

	@Test
	void closingEndsTheAttemptAndThoseThatWait() throws Exception {
		CompletableFuture<String> waiting = this.connects.connected();
		this.connecting.await();
		this.connects.close();
		assertThatExceptionOfType(CancellationException.class).isThrownBy(waiting::join);
		assertThat(this.connects.connection()).isNull();
	}

}
