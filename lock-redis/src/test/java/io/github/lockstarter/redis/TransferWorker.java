// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockSetRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;

/**
 * An instance of an application whose threads move money between random accounts in
 * Redis, under the locks of all accounts of a transfer.
 */
final class TransferWorker {

	private TransferWorker() {
	}

	/**
	 * Run the worker.
	 * @param args port of Redis, seed, number of threads, transfers of each thread,
	 * number of accounts
	 */
	public static void main(String[] args) throws Exception {
		int threads = Integer.parseInt(args[2]);
		int transfers = Integer.parseInt(args[3]);
		int accounts = Integer.parseInt(args[4]);
		LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", Integer.parseInt(args[0]));
		connections.start();
		StringRedisTemplate redis = new StringRedisTemplate(connections);
		RedisLockStore store = new RedisLockStore(connections, RedisLockSettings.DEFAULTS);
		DefaultLockRegistry registry = new DefaultLockRegistry(store, EngineSettings.DEFAULTS, LockListener.NO_OP);
		redis.opsForValue().get("account-0");
		System.out.println("ready");
		System.in.read();
		List<Call<Boolean>> calls = new ArrayList<>();
		for (int i = 0; i < threads; i++) {
			Random random = new Random(Long.parseLong(args[1]) * threads + i);
			calls.add(Callers.start(() -> {
				for (int n = 0; n < transfers; n++) {
					List<Integer> parties = random.ints(2 + random.nextInt(3), 0, accounts).distinct().boxed().toList();
					LockSetRequest request = LockSetRequest.of("account", parties).withWaitTime(Duration.ofMinutes(1));
					try (LeaseSet lease = registry.acquireAll(request)) {
						parties.forEach((party) -> add(redis, party, 1));
						add(redis, parties.get(0), -parties.size());
					}
				}
				return true;
			}));
		}
		for (Call<Boolean> call : calls) {
			call.get();
		}
		registry.close();
		store.close();
		connections.destroy();
	}

	private static void add(StringRedisTemplate redis, int account, int amount) {
		String value = redis.opsForValue().get("account-" + account);
		int balance = (value != null) ? Integer.parseInt(value) : 0;
		redis.opsForValue().set("account-" + account, Integer.toString(balance + amount));
	}

}
