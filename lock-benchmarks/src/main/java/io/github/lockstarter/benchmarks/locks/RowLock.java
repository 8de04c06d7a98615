// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Set;

import com.zaxxer.hikari.HikariDataSource;

import io.github.lockstarter.benchmarks.servers.ServerAddress;
import io.github.lockstarter.benchmarks.servers.ServerKind;

/**
 * The lock of a database itself: {@code select ... for update} of a row in a transaction
 * that lasts as long as the lock. Each holder and each waiter occupies a connection.
 */
final class RowLock implements Competitor {

	@Override
	public String name() {
		return "SELECT FOR UPDATE";
	}

	@Override
	public Set<ServerKind> servers() {
		return Set.of(ServerKind.POSTGRESQL, ServerKind.MARIADB, ServerKind.H2);
	}

	@Override
	public Set<Ability> abilities() {
		return Set.of(Ability.DISTRIBUTED, Ability.CONTENDED, Ability.MANY_WAITERS);
	}

	@Override
	public LockClient connect(ServerAddress server, long leaseMillis) {
		HikariDataSource connections = PooledConnections.ofPeer(server);
		connections.setAutoCommit(false);
		return new LockClient() {

			@Override
			public Runnable lock(String key) {
				Connection transaction = select(key);
				while (transaction == null) {
					insert(key);
					transaction = select(key);
				}
				Connection locked = transaction;
				return () -> commit(locked);
			}

			private Connection select(String key) {
				try {
					Connection connection = connections.getConnection();
					try (PreparedStatement statement = connection
						.prepareStatement("select name from guard where name = ? for update")) {
						statement.setString(1, key);
						try (ResultSet rows = statement.executeQuery()) {
							if (rows.next()) {
								return connection;
							}
						}
					}
					commit(connection);
					return null;
				}
				catch (SQLException ex) {
					throw new IllegalStateException(ex);
				}
			}

			private void insert(String key) {
				try (Connection connection = connections.getConnection();
						PreparedStatement statement = connection.prepareStatement("insert into guard values (?)")) {
					statement.setString(1, key);
					statement.executeUpdate();
					connection.commit();
				}
				catch (SQLException ex) {
					// Another client has inserted it at the same time
				}
			}

			private void commit(Connection connection) {
				try (connection) {
					connection.commit();
				}
				catch (SQLException ex) {
					throw new IllegalStateException(ex);
				}
			}

			@Override
			public void close() {
				connections.close();
			}

		};
	}

}
