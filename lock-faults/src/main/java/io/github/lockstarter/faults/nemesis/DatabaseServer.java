// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import io.github.lockstarter.jdbc.JdbcLockSchema;

/**
 * A database server with the tables of all competitors, and a clock that can be set.
 */
abstract class DatabaseServer implements AutoCloseable {

	static final String WAITERS = "waiters for ";

	private static final List<String> TABLES = List.of("distributed_lock", "INT_LOCK", "shedlock");

	private final MovableClock clock = new MovableClock();

	private final ServerProcess process;

	/**
	 * Take over a server.
	 * @param server the server that was started
	 * @param url its address
	 */
	DatabaseServer(ProcessHandle server, String url) throws Exception {
		Path log = Files.createTempFile("database", ".log");
		log.toFile().deleteOnExit();
		this.process = ServerProcess.insteadOf(server, this.clock.environment(), log);
		await(url);
		DriverManagerDataSource connections = new DriverManagerDataSource(url);
		DatabasePopulatorUtils.execute(new ResourceDatabasePopulator(
				new DefaultResourceLoader().getResource(JdbcLockSchema.location(connections)),
				new ClassPathResource("peers.sql", DatabaseServer.class)), connections);
	}

	abstract int port();

	/**
	 * Return the URL through a network.
	 * @param port the port of the network
	 */
	abstract String url(int port);

	/**
	 * Let an operator end all other sessions.
	 */
	abstract void endSessions();

	MovableClock clock() {
		return this.clock;
	}

	ServerProcess process() {
		return this.process;
	}

	Connection open() throws SQLException {
		return DriverManager.getConnection(url(port()));
	}

	JdbcTemplate jdbc() {
		return new JdbcTemplate(new DriverManagerDataSource(url(port())));
	}

	void await() throws InterruptedException {
		await(url(port()));
	}

	private static void await(String url) throws InterruptedException {
		ServerProcess.await("The database", () -> {
			try (Connection connection = DriverManager.getConnection(url)) {
				return connection.isValid(1);
			}
			catch (SQLException ex) {
				return false;
			}
		});
	}

	/**
	 * Lock all rows while work is done.
	 */
	void lockRows(Work work) throws Exception {
		try (Connection connection = open(); Statement statement = connection.createStatement()) {
			connection.setAutoCommit(false);
			for (String table : TABLES) {
				statement.executeQuery("select * from " + table + " for update").close();
			}
			work.run();
			connection.rollback();
		}
	}

	void deleteRows() {
		for (String table : TABLES) {
			try {
				jdbc().update("delete from " + table);
			}
			catch (DataAccessException ex) {
				// A deadlock with the holders, who delete in another order
				jdbc().update("delete from " + table);
			}
		}
	}

	/**
	 * Return the locks with an owner or a waiter.
	 */
	List<String> locks() {
		return jdbc().query(
				"select lock_key from distributed_lock where owner is not null and expires_at > " + micros()
						+ " union all select lock_key from INT_LOCK union all select concat('" + WAITERS
						+ "', lock_key) from distributed_lock where line is not null",
				(row, number) -> row.getString(1));
	}

	/**
	 * Return the SQL expression of the time in microseconds.
	 */
	abstract String micros();

	@Override
	public void close() throws IOException {
		this.process.kill();
		this.clock.close();
	}

}
