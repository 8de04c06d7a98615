// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.benchmarks.servers.ServerAddress;
import io.github.lockstarter.jdbc.JdbcLockSettings;
import io.github.lockstarter.jdbc.JdbcLockStore;
import io.github.lockstarter.redis.RedisLockSettings;
import io.github.lockstarter.redis.RedisLockStore;
import io.github.lockstarter.redlock.RedlockSettings;
import io.github.lockstarter.redlock.RedlockStore;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.zookeeper.ZooKeeperLockSettings;
import io.github.lockstarter.zookeeper.ZooKeeperLockStore;

/**
 * A store of this project with its connections, as the auto-configuration creates it.
 *
 * @param store the store
 * @param close closes it and its connections
 */
record OurStore(LockStore store, Runnable close) {

	/**
	 * Open a store.
	 * @param varied whether Redis has to answer a release before the caller continues,
	 * and PostgreSQL need not write a grant to disk
	 */
	static OurStore open(ServerAddress server, long leaseMillis, boolean varied) {
		return switch (server.kind()) {
			case REDIS -> redis(server, varied);
			case REDLOCK -> redlock(server);
			case POSTGRESQL, MARIADB, H2 -> jdbc(server, !varied);
			case ZOOKEEPER, ZOOKEEPER_ENSEMBLE -> zooKeeper(server, leaseMillis);
		};
	}

	private static OurStore redis(ServerAddress server, boolean awaitRelease) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", server.port());
		connections.start();
		RedisLockSettings defaults = RedisLockSettings.DEFAULTS;
		RedisLockStore store = new RedisLockStore(connections, new RedisLockSettings(defaults.prefix(),
				defaults.fenceRetention(), awaitRelease, defaults.minReplicaAcks(), defaults.replicaAckTimeout()));
		return new OurStore(store, () -> {
			store.close();
			connections.destroy();
		});
	}

	private static OurStore redlock(ServerAddress servers) {
		List<LettuceConnectionFactory> connections = Arrays.stream(servers.ports())
			.mapToObj((port) -> new LettuceConnectionFactory("127.0.0.1", port))
			.toList();
		RedlockSettings defaults = RedlockSettings.DEFAULTS;
		// The servers were just started, and would have no vote for a minute
		RedlockStore store = new RedlockStore(connections, new RedlockSettings(defaults.prefix(),
				defaults.fenceRetention(), defaults.nodeTimeout(), Duration.ZERO));
		return new OurStore(store, store::close);
	}

	private static OurStore jdbc(ServerAddress database, boolean durableGrants) {
		HikariDataSource acquiring = PooledConnections.ofOurs(database, PooledConnections.ACQUIRING);
		HikariDataSource owned = PooledConnections.ofOurs(database, PooledConnections.OWNED);
		JdbcLockSettings defaults = JdbcLockSettings.DEFAULTS;
		JdbcLockStore store = new JdbcLockStore(acquiring, owned,
				new JdbcLockSettings(defaults.table(), defaults.queryTimeout(), durableGrants, defaults.notifications(),
						defaults.minPollInterval(), defaults.maxPollInterval(), defaults.fenceRetention()));
		return new OurStore(store, () -> {
			store.close();
			acquiring.close();
			owned.close();
		});
	}

	private static OurStore zooKeeper(ServerAddress servers, long leaseMillis) {
		ZooKeeperLockSettings defaults = ZooKeeperLockSettings.DEFAULTS;
		ZooKeeperLockStore store = ZooKeeperLockStore.connect(servers.location(),
				new ZooKeeperLockSettings(defaults.root(), Duration.ofMillis(leaseMillis), defaults.requestTimeout()));
		return new OurStore(store, store::close);
	}

}
