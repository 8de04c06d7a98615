// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import io.lettuce.core.RedisException;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Connections that are lost between two sendings of the same call, which no server can be
 * made to do.
 */
class LettuceAnswerTests {

	private final Queue<AsyncCommand<byte[], byte[], Object>> sent = new ArrayDeque<>();

	private final AtomicInteger late = new AtomicInteger();

	@Test
	void aCallThatWasCarriedOutBeforeDoesNotSeemToBeUnsent() {
		LettuceAnswer<Object, Object> answer = send();
		this.late.incrementAndGet();
		this.sent.remove().complete(List.of());
		assertThat(answer).isNotDone();
		this.sent.remove().completeExceptionally(notConnected());
		assertThat(answer.handle((result, ex) -> ScriptErrors.isUnsent(ex))).isCompletedWithValue(false);
	}

	@Test
	void aCallThatWasRejectedIsUnsent() {
		LettuceAnswer<Object, Object> answer = send();
		this.sent.remove().completeExceptionally(notConnected());
		assertThat(answer.handle((result, ex) -> ScriptErrors.isUnsent(ex))).isCompletedWithValue(true);
	}

	private LettuceAnswer<Object, Object> send() {
		ScriptCall call = new ScriptCall(LockScript.REDLOCK_ACQUIRE, new byte[][] { {} });
		LettuceAnswer<Object, Object> answer = new LettuceAnswer<>(call, Function.identity(), this.late,
				(commands, ex) -> {
				}, Duration.ofMinutes(1).toNanos());
		answer.sendTo(commands());
		return answer;
	}

	private static RedisException notConnected() {
		return new RedisException("Currently not connected. Commands are rejected.");
	}

	@SuppressWarnings("unchecked")
	private RedisClusterAsyncCommands<byte[], byte[]> commands() {
		return (RedisClusterAsyncCommands<byte[], byte[]>) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { RedisClusterAsyncCommands.class }, (proxy, method, arguments) -> {
					AsyncCommand<byte[], byte[], Object> command = new AsyncCommand<>(
							new Command<>(CommandType.EVALSHA, null));
					this.sent.add(command);
					return command;
				});
	}

}
