// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.scenarios;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;

import io.github.lockstarter.benchmarks.locks.Competitors;
import io.github.lockstarter.benchmarks.locks.LockClient;
import io.github.lockstarter.benchmarks.servers.ServerAddress;

/**
 * One JVM of {@link HandOverScenario}. The holder waits until the other JVM is certain to
 * wait, releases the lock, and pauses before it acquires it again. It records when it
 * acquired and released the lock, with the number of the turn. All processes of a Linux
 * host share the monotonic clock.
 */
final class HandOverWorker {

	private static final String TURN = "turn";

	private static final long HOLD_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	/** Time for the JVM to compile the contended path, which only contention runs. */
	private static final long WARM_UP_NANOS = TimeUnit.SECONDS.toNanos(6);

	private static final long LEASE_MILLIS = 30_000;

	private HandOverWorker() {
	}

	public static void main(String[] args) throws Exception {
		ServerAddress server = ServerAddress.parse(args[1]);
		RedisClient redis = RedisClient.create("redis://127.0.0.1:" + args[2]);
		RedisCommands<String, String> commands = redis.connect().sync();
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		StringBuilder times = new StringBuilder("done");
		try (LockClient client = Competitors.named(args[0]).connect(server, LEASE_MILLIS)) {
			client.lock("own-" + ProcessHandle.current().pid()).run();
			System.out.println("ready");
			input.readLine();
			long begin = System.nanoTime() + WARM_UP_NANOS;
			long end = begin + TimeUnit.MILLISECONDS.toNanos(Long.parseLong(args[3]));
			while (System.nanoTime() - end < 0) {
				Runnable release = client.lock("hot");
				long acquiredAt = System.nanoTime();
				long turn = commands.incr(TURN);
				LockSupport.parkNanos(HOLD_NANOS);
				long releasedAt = System.nanoTime();
				release.run();
				LockSupport.parkNanos(HOLD_NANOS / 2);
				if (acquiredAt - begin > 0) {
					times.append(' ').append(turn).append(':').append(acquiredAt).append(':').append(releasedAt);
				}
			}
		}
		System.out.println(times);
		redis.shutdown();
		System.exit(0);
	}

}
