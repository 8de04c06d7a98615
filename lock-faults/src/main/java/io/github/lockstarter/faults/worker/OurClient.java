// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnPersistenceContext;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineProbe;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.jdbc.JdbcLockSettings;
import io.github.lockstarter.jdbc.JdbcLockStore;
import io.github.lockstarter.redis.RedisLockSettings;
import io.github.lockstarter.redis.RedisLockStore;
import io.github.lockstarter.redlock.RedlockSettings;
import io.github.lockstarter.redlock.RedlockStore;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.transaction.TransactionAwareLockRegistry;
import io.github.lockstarter.zookeeper.ZooKeeperLockSettings;
import io.github.lockstarter.zookeeper.ZooKeeperLockStore;

/**
 * The lock of this project, with default settings except for its lease time.
 */
final class OurClient implements LockClient {

	private final Runnable connections;

	private final UnansweringStore store;

	private final DefaultLockRegistry registry;

	private final LockRegistry locks;

	/**
	 * Create a client.
	 * @param connections closes the store and its connections
	 */
	private OurClient(LockStore store, Duration leaseTime, Runnable connections) {
		this.connections = connections;
		this.store = new UnansweringStore(store);
		EngineSettings defaults = EngineSettings.DEFAULTS;
		this.registry = new DefaultLockRegistry(this.store,
				new EngineSettings(defaults.waitTime(), leaseTime, defaults.renewalsPerLease(), defaults.pollInterval(),
						defaults.pollIntervalWithoutMessages(), defaults.timeSlice(), defaults.shutdownTimeout()),
				LockListener.NO_OP);
		// Otherwise no transaction would know its locks
		this.locks = new TransactionAwareLockRegistry(this.registry.name(), this.registry, OnActiveTransaction.DEFAULT,
				OnPersistenceContext.DEFAULT, LockListener.NO_OP);
	}

	static OurClient onRedis(SpringConnections connections, Duration leaseTime, int minReplicaAcks) {
		RedisLockStore store = new RedisLockStore(connections.factory(), settings(minReplicaAcks));
		return new OurClient(store, leaseTime, () -> {
			store.close();
			connections.close();
		});
	}

	static OurClient onIndependentServers(ServerAddress address, Duration leaseTime) {
		RedlockSettings defaults = RedlockSettings.DEFAULTS;
		RedlockStore store = new RedlockStore(SpringConnections.toEach(address),
				new RedlockSettings(defaults.prefix(), defaults.fenceRetention(), defaults.nodeTimeout(), leaseTime));
		return new OurClient(store, leaseTime, store::close);
	}

	static OurClient inDatabase(ServerAddress address, Duration leaseTime) {
		HikariDataSource acquiring = DatabasePool.to(address, 8);
		HikariDataSource owned = DatabasePool.to(address, 4);
		JdbcLockStore store = new JdbcLockStore(acquiring, owned, JdbcLockSettings.DEFAULTS);
		return new OurClient(store, leaseTime, () -> {
			store.close();
			acquiring.close();
			owned.close();
		});
	}

	static OurClient inZooKeeper(ServerAddress address, Duration leaseTime) {
		ZooKeeperLockSettings defaults = ZooKeeperLockSettings.DEFAULTS;
		ZooKeeperLockStore store = ZooKeeperLockStore.connect(String.join(",", address.nodes()),
				new ZooKeeperLockSettings(defaults.root(), ZooKeeperSession.timeout(leaseTime),
						defaults.requestTimeout()));
		return new OurClient(store, leaseTime, store::close);
	}

	private static RedisLockSettings settings(int minReplicaAcks) {
		RedisLockSettings defaults = RedisLockSettings.DEFAULTS;
		return new RedisLockSettings(defaults.prefix(), defaults.fenceRetention(), defaults.awaitRelease(),
				minReplicaAcks, defaults.replicaAckTimeout());
	}

	@Override
	public @Nullable Held tryLock(String key, Duration waitTime) throws InterruptedException {
		return tryLock(key, waitTime, Way.THREAD);
	}

	@Override
	public @Nullable Held tryLock(String key, Duration waitTime, Way way) throws InterruptedException {
		LockRequest request = LockRequest.of("faults", key).withWaitTime(waitTime);
		List<LockRequest> set = List.of(request, LockRequest.of("faults", key + "-too").withWaitTime(waitTime));
		try {
			LeaseSet leases = switch (way) {
				case THREAD -> this.locks.tryAcquire(request).orElse(null);
				case FUTURE -> await(this.locks.acquireAsync(request));
				case SET -> this.locks.tryAcquireAll(set).orElse(null);
				case FUTURE_SET -> await(this.locks.acquireAllAsync(set));
			};
			return (leases != null) ? new OurHeld(leases, leases.get(request.key()), way) : null;
		}
		catch (LockInterruptedException ex) {
			Thread.interrupted();
			throw new InterruptedException();
		}
	}

	private static <L extends LeaseSet> @Nullable L await(CompletableFuture<L> future) throws InterruptedException {
		try {
			return future.get();
		}
		catch (InterruptedException ex) {
			if (!future.cancel(false)) {
				future.thenAccept(LeaseSet::closeAsync);
			}
			throw ex;
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof LockContendedException) {
				return null;
			}
			throw new IllegalStateException(ex.getCause());
		}
	}

	@Override
	public Optional<UnansweringStore> store() {
		return Optional.of(this.store);
	}

	@Override
	public int residue() {
		return EngineProbe.activeLocks(this.registry) + EngineProbe.backgroundActions(this.registry);
	}

	@Override
	public void close() {
		this.registry.close();
		this.connections.run();
	}

	private record OurHeld(LeaseSet leases, Lease lease, Way way) implements Held {

		@Override
		public long token() {
			return this.lease.fencingToken();
		}

		@Override
		public boolean isHeld() {
			return this.lease.isHeld();
		}

		@Override
		public boolean isOfThread() {
			return this.way == Way.THREAD || this.way == Way.SET;
		}

		@Override
		public void unlock() {
			this.leases.close();
		}

	}

}
