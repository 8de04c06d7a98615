// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;

import org.springframework.data.redis.RedisConnectionFailureException;

import static org.assertj.core.api.Assertions.assertThat;

class ArrivalsTests {

	private static final Exception UNSENT = new RedisConnectionFailureException("Connection refused");

	private final Arrivals arrivals = new Arrivals();

	@Test
	void includesNoAttemptThatWasNeverSent() {
		assertThat(this.arrivals.mayInclude(1)).isFalse();
		expect(1).completeExceptionally(UNSENT);
		assertThat(this.arrivals.mayInclude(1)).isFalse();
	}

	@Test
	void includesAnAttemptUnderWay() {
		CompletableFuture<Void> answer = expect(1);
		assertThat(this.arrivals.mayInclude(1)).isTrue();
		answer.completeExceptionally(UNSENT);
		assertThat(this.arrivals.mayInclude(1)).isFalse();
	}

	@Test
	void includesAnAttemptThatWasAnsweredOrMayHaveBeen() {
		expect(1).complete(null);
		expect(3).completeExceptionally(new IllegalStateException("Command timed out"));
		assertThat(this.arrivals.mayInclude(1)).isTrue();
		assertThat(this.arrivals.mayInclude(3)).isTrue();
		assertThat(this.arrivals.mayInclude(4)).isFalse();
	}

	@Test
	void includesAnAttemptOfWhichOneRequestIsUnderWayAndAnotherWasNotSent() {
		CompletableFuture<Void> first = expect(1);
		expect(1).completeExceptionally(UNSENT);
		assertThat(this.arrivals.mayInclude(1)).isTrue();
		first.complete(null);
		assertThat(this.arrivals.mayInclude(1)).isTrue();
	}

	private CompletableFuture<Void> expect(long number) {
		CompletableFuture<Void> answer = new CompletableFuture<>();
		this.arrivals.expect(number, answer);
		return answer;
	}

}
