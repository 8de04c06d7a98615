// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.scenarios;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;

import io.github.lockstarter.benchmarks.locks.Competitors;
import io.github.lockstarter.benchmarks.locks.LockClient;
import io.github.lockstarter.benchmarks.servers.ServerAddress;

/**
 * One JVM of {@link JvmsScenario}.
 */
final class CounterWorker {

	static final String COUNTER = "counter";

	/** Four JVMs that share two cores compile their code for about this long. */
	private static final Duration WARM_UP = Duration.ofSeconds(20);

	private static final long LEASE_MILLIS = 30_000;

	private CounterWorker() {
	}

	public static void main(String[] args) throws Exception {
		ServerAddress server = ServerAddress.parse(args[1]);
		int threads = Integer.parseInt(args[3]);
		Duration time = Duration.ofSeconds(Long.parseLong(args[4]));
		RedisClient redis = RedisClient.create("redis://127.0.0.1:" + args[2]);
		RedisCommands<String, String> commands = redis.connect().sync();
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		Load load;
		try (LockClient client = Competitors.named(args[0]).connect(server, LEASE_MILLIS)) {
			String own = "warm-up-" + ProcessHandle.current().pid();
			Load.run(client, threads, (i) -> own, () -> increment(commands, own + "-counter"), WARM_UP, false);
			System.out.println("ready");
			input.readLine();
			load = Load.run(client, threads, (i) -> "hot", () -> increment(commands, COUNTER), time, false);
		}
		System.out.println("done " + load.acquisitions() + ' ' + load.times().getValueAtPercentile(50) / 1e3 + ' '
				+ load.times().getValueAtPercentile(99) / 1e3 + ' ' + load.times().getMaxValue() / 1e6 + ' '
				+ load.cpuMicrosPerAcquisition() + ' ' + load.cycles() + ' ' + load.failed());
		redis.shutdown();
		System.exit(0);
	}

	private static void increment(RedisCommands<String, String> commands, String key) {
		String value = commands.get(key);
		commands.set(key, String.valueOf((value != null) ? Long.parseLong(value) + 1 : 1));
	}

}
