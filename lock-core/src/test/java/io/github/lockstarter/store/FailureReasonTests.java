// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.net.UnknownHostException;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class FailureReasonTests {

	@Test
	void theInnermostMessageSaysWhatHasHappened() {
		assertThat(FailureReason.of(new IllegalStateException("Unable to connect to Redis",
				new IllegalStateException("Unable to connect to 127.0.0.1:6379", new RuntimeException("WRONGPASS")))))
			.isEqualTo("WRONGPASS");
	}

	@Test
	void aMessageAroundTheInnermostThatSaysTheSameAndMoreIsPreferred() {
		assertThat(
				FailureReason.of(new IllegalStateException("Unable to connect to Redis",
						new IllegalStateException("Connection refused: /127.0.0.1:1",
								new RuntimeException("Connection refused")))))
			.isEqualTo("Connection refused: /127.0.0.1:1");
	}

	@Test
	void whatBecameOfEachAddressIsAdded() {
		RuntimeException failure = new RuntimeException("Failed to connect to localhost:1.");
		failure.addSuppressed(new RuntimeException("Connection refused"));
		assertThat(FailureReason.of(new IllegalStateException(failure)))
			.isEqualTo("Failed to connect to localhost:1. (Connection refused)");
	}

	@Test
	void theReasonIsOneLineWithoutControlCharacters() {
		assertThat(FailureReason.of(new RuntimeException("ERROR: deadlock detected\n  Detail: Process 7 waits.\r\n")))
			.isEqualTo("ERROR: deadlock detected Detail: Process 7 waits.");
		assertThat(FailureReason.of(new UnusableStoreException("Refused (\u001b[31mred)\nby the server", null)))
			.isEqualTo("Refused (%1B[31mred) by the server");
		assertThat(FailureReason.of(new RuntimeException("100 % of {maxmemory}"))).isEqualTo("100 % of {maxmemory}");
	}

	@Test
	void aMessageThatSaysWhatToChangeIsKept() {
		assertThat(FailureReason.of(new UnusableStoreException("Allow it", new RuntimeException("NOPERM"))))
			.isEqualTo("Allow it");
	}

	@Test
	void aNameAloneIsExplained() {
		assertThat(FailureReason.of(new NoClassDefFoundError("org/slf4j/Logger")))
			.isEqualTo("NoClassDefFoundError: org/slf4j/Logger");
		assertThat(FailureReason.of(new IllegalStateException(new UnknownHostException("redis-1"))))
			.isEqualTo("UnknownHostException: redis-1");
	}

	@Test
	void causesWithoutAMessageOrInACircleAreNoProblem() {
		assertThat(FailureReason.of(new IllegalStateException())).isEqualTo("IllegalStateException");
		RuntimeException one = new RuntimeException("one");
		RuntimeException two = new RuntimeException("two", one);
		one.initCause(two);
		assertThat(FailureReason.of(one)).isIn("one", "two");
	}

}
