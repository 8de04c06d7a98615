// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Redis, alone, with replicas, and as a cluster.
 */
@Tag("full")
class RedisServerTests {

	@Test
	void aServerIsEmptyAfterItWasKilledAndStartedAgain() {
		try (RedisServer redis = RedisServer.start()) {
			redis.command("SET", "a", "1");
			redis.kill();
			assertThatExceptionOfType(UncheckedIOException.class).isThrownBy(() -> redis.command("PING"));
			redis.restart();
			assertThat(redis.command("GET", "a")).isEqualTo("(nil)");
		}
	}

	@Test
	void aServerThatDoesNotStartLeavesNoFiles() {
		Path all = ServerProcess.newDirectory("all").getParent();
		String[] before = all.toFile().list();
		assertThatIllegalStateException().isThrownBy(() -> RedisServer.start("--unknown", "1"))
			.withMessageContaining("unknown");
		assertThat(all.toFile().list()).containsExactlyInAnyOrder(before);
	}

	@Test
	void aPausedServerAnswersWhenItContinues() {
		try (RedisServer redis = RedisServer.start()) {
			redis.pause();
			CompletableFuture<String> answer = CompletableFuture.supplyAsync(() -> redis.command("PING"));
			assertThat(answer).isNotDone();
			redis.resume();
			assertThat(answer.join()).isEqualTo("PONG");
		}
	}

	@Test
	void callsAndCommandsAreKnown() {
		try (RedisServer redis = RedisServer.start()) {
			List<String> commands = redis.monitor(() -> redis.command("EVAL", "return redis.call('incr', 'a')", "0"));
			assertThat(commands).containsExactly("EVAL");
			assertThat(redis.calls("incr")).isEqualTo(1);
			assertThat(redis.version()).matches("\\d+\\.\\d+\\.\\d+");
		}
	}

	@Test
	void aSentinelPromotesTheReplica() {
		try (RedisServer primary = RedisServer.start(); RedisServer replica = RedisServer.startReplicaOf(primary)) {
			await().until(() -> replica.command("ROLE").contains("connected"));
			try (RedisServer sentinel = RedisServer.startSentinelOf(primary, "locks")) {
				assertThat(sentinel.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "locks"))
					.endsWith(String.valueOf(primary.port()));
			}
		}
	}

	@Test
	void aClusterMovesSlots() {
		try (RedisCluster cluster = RedisCluster.start()) {
			cluster.command("SET", "a", "1");
			RedisServer before = cluster.nodeOf("a");
			cluster.moveSlotOf("a", () -> {
			});
			assertThat(cluster.nodeOf("a")).isNotSameAs(before);
			assertThat(cluster.command("GET", "a")).isEqualTo("1");
		}
	}

}
