// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * A database server of one's own, without a wait for the disk. It keeps its data when it
 * is killed and started again.
 */
public abstract class DatabaseServer implements AutoCloseable {

	private final int port;

	private final ServerProcess process;

	DatabaseServer(int port, ServerProcess process) {
		this.port = port;
		this.process = process;
		awaitService();
	}

	public int port() {
		return this.port;
	}

	/**
	 * Return the process, whose children are its sessions in the case of PostgreSQL.
	 */
	public ServerProcess process() {
		return this.process;
	}

	/**
	 * Return the JDBC URL of the database that exists from the beginning.
	 */
	public String url() {
		return url(this.port);
	}

	/**
	 * Return the JDBC URL of that database through a network.
	 * @param networkPort the port of the network
	 */
	public abstract String url(int networkPort);

	/**
	 * Return the JDBC URL of another database.
	 */
	public abstract String url(String database);

	public Connection open() throws SQLException {
		return DriverManager.getConnection(url());
	}

	/**
	 * Create a database.
	 * @return its JDBC URL
	 */
	public String create(String database) {
		execute("create database " + database);
		return url(database);
	}

	public void execute(String sql) {
		try (Connection connection = open(); Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Kill the server as {@code kill -9} does.
	 */
	public void kill() {
		this.process.kill();
	}

	/**
	 * Start the server again after {@link #kill()}.
	 */
	public void restart() {
		this.process.restart();
		awaitService();
	}

	public void pause() {
		this.process.pause();
	}

	public void resume() {
		this.process.resume();
	}

	/**
	 * Wait until the server accepts connections.
	 */
	public void awaitService() {
		this.process.await(() -> {
			try (Connection connection = open()) {
				return connection.isValid(1);
			}
			catch (SQLException ex) {
				return false;
			}
		});
	}

	@Override
	public void close() {
		this.process.close();
	}

	/**
	 * Return the directory with the executables, which stays until the next
	 * {@code mvn clean}.
	 * @param name the name of the directory
	 */
	static Path unpacked(String name, Unpacking unpacking) {
		try {
			Path directory = SharedServers.home().resolve(name);
			if (!Files.isDirectory(directory)) {
				Path incomplete = Files.createTempDirectory(Files.createDirectories(directory.getParent()), name);
				try {
					unpacking.unpackTo(incomplete);
					Files.move(incomplete, directory);
				}
				catch (FileAlreadyExistsException | DirectoryNotEmptyException ex) {
					// Another JVM was faster
				}
				finally {
					ServerProcess.delete(incomplete);
				}
			}
			return directory;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static InputStream resource(String name) throws IOException {
		InputStream resource = DatabaseServer.class.getClassLoader().getResourceAsStream(name);
		if (resource == null) {
			throw new IOException(name + " is not on the class path");
		}
		return resource;
	}

	/**
	 * Writes the executables.
	 */
	interface Unpacking {

		void unpackTo(Path directory) throws IOException;

	}

}
