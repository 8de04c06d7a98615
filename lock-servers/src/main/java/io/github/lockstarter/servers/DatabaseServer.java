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
import java.util.List;
import java.util.Map;

/**
 * A database server of one's own, without a wait for the disk. It keeps its data when it
 * is killed and started again.
 */
public abstract class DatabaseServer extends ServerProcess {

	private final int port;

	private final String url;

	/**
	 * Start a server.
	 * @param url the JDBC URL of the database that exists from the beginning, with a
	 * place for the port
	 */
	DatabaseServer(int port, String url, List<String> command, Map<String, String> environment, Path directory) {
		super(command, environment, directory);
		this.port = port;
		this.url = url;
		awaitService();
	}

	public int port() {
		return this.port;
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
	public String url(int networkPort) {
		return this.url.formatted(networkPort);
	}

	public Connection open() throws SQLException {
		return DriverManager.getConnection(url());
	}

	/**
	 * Create a database.
	 * @return its JDBC URL
	 */
	public String create(String database) {
		return create(url(), database);
	}

	static String create(String url, String database) {
		execute(url, "create database " + database);
		return url.replaceFirst("/\\w+\\?", "/" + database + "?");
	}

	public void execute(String sql) {
		execute(url(), sql);
	}

	private static void execute(String url, String sql) {
		try (Connection connection = DriverManager.getConnection(url);
				Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void restart() {
		super.restart();
		awaitService();
	}

	/**
	 * Wait until the server accepts connections.
	 */
	void awaitService() {
		await(() -> {
			try (Connection connection = open()) {
				return connection.isValid(1);
			}
			catch (SQLException ex) {
				return false;
			}
		});
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
					delete(incomplete);
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
