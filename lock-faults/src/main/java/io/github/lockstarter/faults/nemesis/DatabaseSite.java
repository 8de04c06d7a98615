// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.util.Assert;

import io.github.lockstarter.faults.worker.ServerAddress;
import io.github.lockstarter.faults.worker.ServerAddress.Kind;
import io.github.lockstarter.jdbc.JdbcLockSchema;
import io.github.lockstarter.servers.DatabaseServer;
import io.github.lockstarter.servers.MariaDbServer;
import io.github.lockstarter.servers.Network;
import io.github.lockstarter.servers.PostgresServer;

/**
 * A database server with the tables of all competitors, and a network from each worker to
 * it. Its clock can be set where there is a C compiler.
 */
final class DatabaseSite implements ServerSite {

	static final String WAITERS = "waiters for ";

	private static final List<String> TABLES = List.of("distributed_lock", "INT_LOCK", "shedlock");

	private final @Nullable MovableClock clock = MovableClock.isAvailable() ? new MovableClock() : null;

	private final Kind kind;

	private final DatabaseServer server;

	private final JdbcTemplate jdbc;

	private final List<Network> networks;

	private boolean failedOver;

	DatabaseSite(Kind kind) throws SQLException {
		this.kind = kind;
		Map<String, String> environment = (this.clock != null) ? this.clock.environment() : Map.of();
		this.server = (kind == Kind.POSTGRESQL) ? PostgresServer.start(environment) : MariaDbServer.start(environment);
		this.jdbc = new JdbcTemplate(new DriverManagerDataSource(this.server.url()));
		this.networks = Stream.generate(() -> Network.to(this.server.port())).limit(Crew.SIZE).toList();
		DriverManagerDataSource connections = new DriverManagerDataSource(this.server.url());
		DatabasePopulatorUtils.execute(new ResourceDatabasePopulator(
				new DefaultResourceLoader().getResource(JdbcLockSchema.location(connections)),
				new ClassPathResource("peers.sql", DatabaseSite.class)), connections);
		if (kind == Kind.MARIADB) {
			// Unlike root, it has to obey read_only
			this.server.execute("create user worker");
			this.server.execute("grant all on test.* to worker");
		}
	}

	@Override
	public ServerAddress address(int worker) {
		String url = this.server.url(this.networks.get(worker).port());
		return new ServerAddress(this.kind, List.of(url.replace("user=root", "user=worker")));
	}

	@Override
	public List<Network> networks(int worker) {
		return List.of(this.networks.get(worker));
	}

	@Override
	public String database() {
		return this.server.url();
	}

	/**
	 * Return the locks with an owner or a waiter.
	 */
	@Override
	public List<String> keys() {
		String micros = (this.kind == Kind.POSTGRESQL) ? "extract(epoch from clock_timestamp()) * 1000000"
				: "timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6))";
		return this.jdbc.query(
				"select lock_key from distributed_lock where owner is not null and expires_at > " + micros
						+ " union all select lock_key from INT_LOCK union all select concat('" + WAITERS
						+ "', lock_key) from distributed_lock where line is not null",
				(row, number) -> row.getString(1));
	}

	@Override
	public void kill() {
		this.server.kill();
	}

	@Override
	public void restart() {
		this.server.restart();
	}

	@Override
	public void pause() {
		this.server.pause();
	}

	@Override
	public void resume() {
		this.server.resume();
	}

	@Override
	public void forget() {
		for (String table : TABLES) {
			try {
				this.jdbc.update("delete from " + table);
			}
			catch (DataAccessException ex) {
				// A deadlock with the holders, who delete in another order
				this.jdbc.update("delete from " + table);
			}
		}
	}

	MovableClock clock() {
		Assert.state(this.clock != null, "No C compiler");
		return this.clock;
	}

	/**
	 * Let an operator end all other sessions.
	 */
	void endSessions() {
		if (this.kind == Kind.POSTGRESQL) {
			this.jdbc.queryForList("select pg_terminate_backend(pid) from pg_stat_activity"
					+ " where pid <> pg_backend_pid() and backend_type = 'client backend'");
			return;
		}
		for (Long session : this.jdbc.queryForList(
				"select id from information_schema.processlist where user in ('root', 'worker') and id <> connection_id()",
				Long.class)) {
			try {
				this.jdbc.execute("kill connection " + session);
			}
			catch (DataAccessException ex) {
				// It is over
			}
		}
	}

	/**
	 * Let the server be two servers with the same data: the former primary for the
	 * sessions that are open, and the new one for those that begin from now on.
	 */
	void failOver() {
		this.failedOver = true;
		if (this.kind == Kind.POSTGRESQL) {
			// It applies to new sessions only, and comes before the one of the server
			this.jdbc.execute("alter database postgres set default_transaction_read_only = off");
			set("default_transaction_read_only", "on");
		}
		else {
			this.jdbc.execute("set global read_only = on");
			// Open sessions keep the privileges with which they began
			this.jdbc.execute("grant read only admin on *.* to worker");
		}
	}

	/**
	 * Let the former primary end.
	 */
	@Override
	public void settle() {
		if (!this.failedOver) {
			return;
		}
		this.failedOver = false;
		if (this.kind == Kind.POSTGRESQL) {
			set("default_transaction_read_only", "off");
			this.jdbc.execute("alter database postgres reset default_transaction_read_only");
		}
		else {
			this.jdbc.execute("revoke read only admin on *.* from worker");
			this.jdbc.execute("set global read_only = off");
		}
		endSessions();
	}

	/**
	 * Lock all rows while work is done.
	 */
	void lockRows(Work work) throws Exception {
		try (Connection connection = this.server.open(); Statement statement = connection.createStatement()) {
			connection.setAutoCommit(false);
			for (String table : TABLES) {
				statement.executeQuery("select * from " + table + " for update").close();
			}
			work.run();
			connection.rollback();
		}
	}

	/**
	 * Let nobody wait until a commit is on the disk, do some work, and let PostgreSQL
	 * lose the last commits.
	 */
	void loseCommits(Work work) throws Exception {
		set("synchronous_commit", "off");
		set("wal_writer_delay", "10s");
		work.run();
		((PostgresServer) this.server).crash();
		set("synchronous_commit", "on");
		set("wal_writer_delay", "200ms");
	}

	private void set(String parameter, String value) {
		this.jdbc.execute("alter system set " + parameter + " = '" + value + "'");
		this.jdbc.execute("select pg_reload_conf()");
	}

	@Override
	public void close() {
		this.networks.forEach(Network::close);
		this.server.close();
		if (this.clock != null) {
			this.clock.close();
		}
	}

}
