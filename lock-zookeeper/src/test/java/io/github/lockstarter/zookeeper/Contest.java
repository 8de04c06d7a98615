// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import org.apache.curator.framework.CuratorFramework;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Threads of two instances that compete for one lock.
 */
final class Contest implements AutoCloseable {

	private static final int THREADS = 8;

	/** The bits of a fencing token that number the holds of a tenure. */
	private static final int HOLD_BITS = 12;

	private final LockRequest request;

	private final ZooKeeperLockStore storeOne;

	private final ZooKeeperLockStore storeTwo;

	private final List<DefaultLockRegistry> instances;

	private final Queue<Long> tokens = new ConcurrentLinkedQueue<>();

	private final AtomicReference<@Nullable Lease> inside = new AtomicReference<>();

	private final AtomicLong lastBase = new AtomicLong();

	private final AtomicInteger tenures = new AtomicInteger();

	private final AtomicInteger overlaps = new AtomicInteger();

	private final List<Call<Integer>> calls = new ArrayList<>();

	private volatile boolean stopped;

	Contest(CuratorFramework one, CuratorFramework two, LockKey key, LockMode mode) {
		this.request = LockRequest.of(key).withMode(mode).withWaitTime(Duration.ofSeconds(60));
		this.storeOne = TestServers.store(one);
		this.storeTwo = TestServers.store(two);
		this.instances = Stream.of(this.storeOne, this.storeTwo)
			.map((store) -> new DefaultLockRegistry(store, TestServers.ENGINE, LockListener.NO_OP))
			.toList();
	}

	/**
	 * Let each thread acquire the lock so many times.
	 */
	void run(int times) throws Exception {
		start(times);
		int total = 0;
		for (Call<Integer> call : this.calls) {
			total += call.get();
		}
		assertThat(total).isEqualTo(2 * THREADS * times);
	}

	/**
	 * Let the threads compete until they are stopped, whatever fails.
	 */
	void start() {
		start(Integer.MAX_VALUE);
	}

	private void start(int times) {
		for (int i = 0; i < 2 * THREADS; i++) {
			DefaultLockRegistry instance = this.instances.get(i % 2);
			this.calls.add(Callers.start(() -> compete(instance, times)));
		}
	}

	private int compete(DefaultLockRegistry instance, int times) {
		int done = 0;
		while (done < times && !this.stopped) {
			try (Lease lease = instance.acquire(this.request)) {
				Lease other = this.inside.getAndSet(lease);
				if (other != null && other.isHeld() && lease.isHeld()) {
					this.overlaps.incrementAndGet();
				}
				this.tokens.add(lease.fencingToken());
				noteTenure(lease.fencingToken() >> HOLD_BITS);
				Thread.yield();
				this.inside.compareAndSet(lease, null);
				done++;
			}
			catch (LockException ex) {
				if (times < Integer.MAX_VALUE) {
					throw ex;
				}
			}
		}
		return done;
	}

	private void noteTenure(long base) {
		if (this.lastBase.getAndSet(base) != base) {
			this.tenures.incrementAndGet();
		}
	}

	/**
	 * Wait until the store has granted the lock some times. Hand-offs do not count.
	 */
	void awaitProgress() {
		int before = this.tenures.get();
		await().atMost(Duration.ofMinutes(1)).until(() -> this.tenures.get() > before + 4);
	}

	void stop() throws Exception {
		this.stopped = true;
		for (Call<Integer> call : this.calls) {
			call.get();
		}
	}

	void assertOrder() {
		assertThat(this.overlaps).hasValue(0);
		assertThat(new ArrayList<>(this.tokens)).isSorted().doesNotHaveDuplicates();
	}

	long linesLeft() {
		return this.storeOne.linesInUse() + this.storeTwo.linesInUse();
	}

	@Override
	public void close() {
		this.stopped = true;
		this.instances.forEach(DefaultLockRegistry::close);
		this.storeOne.close();
		this.storeTwo.close();
	}

}
