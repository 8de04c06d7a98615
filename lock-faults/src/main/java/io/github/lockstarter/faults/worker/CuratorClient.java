// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.jspecify.annotations.Nullable;

/**
 * The {@link InterProcessMutex} of Curator. As its documentation recommends, a holder is
 * no longer sure of its lock after the connection was suspended or lost. There are no
 * fencing tokens.
 */
final class CuratorClient implements LockClient {

	private final CuratorFramework client;

	private final AtomicInteger doubts = new AtomicInteger();

	private final Map<String, InterProcessMutex> mutexes = new ConcurrentHashMap<>();

	CuratorClient(ServerAddress address, Duration leaseTime) {
		this.client = CuratorFrameworkFactory.builder()
			.connectString(String.join(",", address.nodes()))
			.sessionTimeoutMs(Math.toIntExact(ZooKeeperSession.timeout(leaseTime).toMillis()))
			.retryPolicy(new ExponentialBackoffRetry(1000, 3))
			.build();
		this.client.getConnectionStateListenable().addListener((source, state) -> {
			if (!state.isConnected()) {
				this.doubts.incrementAndGet();
			}
		});
		this.client.start();
	}

	@Override
	public @Nullable Held tryLock(String key, Duration waitTime) throws InterruptedException {
		InterProcessMutex mutex = this.mutexes.computeIfAbsent(key,
				(name) -> new InterProcessMutex(this.client, "/mutexes/" + name));
		int before = this.doubts.get();
		try {
			return mutex.acquire(waitTime.toMillis(), TimeUnit.MILLISECONDS)
					? new CuratorHeld(mutex, this.doubts, before) : null;
		}
		catch (InterruptedException | RuntimeException ex) {
			throw ex;
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public int residue() {
		return 0;
	}

	@Override
	public void close() {
		this.client.close();
	}

	private record CuratorHeld(InterProcessMutex mutex, AtomicInteger doubts, int before) implements Held {

		@Override
		public long token() {
			return 0;
		}

		@Override
		public boolean isHeld() {
			return this.doubts.get() == this.before;
		}

		@Override
		public void unlock() {
			try {
				this.mutex.release();
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
