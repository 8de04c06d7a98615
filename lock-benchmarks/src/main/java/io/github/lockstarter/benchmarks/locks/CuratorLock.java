// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

import io.github.lockstarter.benchmarks.servers.ServerAddress;
import io.github.lockstarter.benchmarks.servers.ServerKind;

/**
 * The {@link InterProcessMutex} of Curator, one for each key.
 */
final class CuratorLock implements Competitor {

	@Override
	public String name() {
		return "Curator";
	}

	@Override
	public Set<ServerKind> servers() {
		return Set.of(ServerKind.ZOOKEEPER, ServerKind.ZOOKEEPER_ENSEMBLE);
	}

	@Override
	public Set<Ability> abilities() {
		return Set.of(Ability.DISTRIBUTED, Ability.CONTENDED, Ability.RENEWED, Ability.MANY_WAITERS);
	}

	@Override
	public LockClient connect(ServerAddress server, long leaseMillis) {
		CuratorFramework client = CuratorFrameworkFactory.builder()
			.connectString(server.location())
			.sessionTimeoutMs(Math.toIntExact(leaseMillis))
			.retryPolicy(new ExponentialBackoffRetry(1000, 3))
			.build();
		client.start();
		Map<String, InterProcessMutex> mutexes = new ConcurrentHashMap<>();
		return new LockClient() {

			@Override
			public Runnable lock(String key) {
				InterProcessMutex mutex = mutexes.computeIfAbsent(key,
						(name) -> new InterProcessMutex(client, "/locks/" + name));
				try {
					mutex.acquire();
				}
				catch (Exception ex) {
					throw new IllegalStateException(ex);
				}
				return () -> release(mutex);
			}

			private void release(InterProcessMutex mutex) {
				try {
					mutex.release();
				}
				catch (Exception ex) {
					throw new IllegalStateException(ex);
				}
			}

			@Override
			public void close() {
				client.close();
			}

		};
	}

}
