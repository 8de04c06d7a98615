// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.zonky.test.db.postgres.embedded.DefaultPostgresBinaryResolver;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.tukaani.xz.XZInputStream;

/**
 * A PostgreSQL server of one's own. No commit waits for the disk, but each one survives
 * {@link #kill()} unless {@code synchronous_commit} is off.
 */
public final class PostgresServer extends DatabaseServer {

	private static final List<String> SETTINGS = List.of("max_connections=400", "fsync=off", "full_page_writes=off",
			"unix_socket_directories=");

	private PostgresServer(int port, List<String> command, Map<String, String> environment, Path directory) {
		super(port, "jdbc:postgresql://127.0.0.1:%d/postgres?user=postgres", command, environment, directory);
	}

	/**
	 * Start a server.
	 * @param settings as in {@code fsync=on}
	 */
	public static PostgresServer start(String... settings) {
		return start(Map.of(), settings);
	}

	/**
	 * Start a server.
	 * @param environment the environment variables of its process
	 * @param settings as in {@code fsync=on}
	 */
	public static PostgresServer start(Map<String, String> environment, String... settings) {
		Path programs = unpacked("postgresql", PostgresServer::unpack).resolve("bin");
		Path directory = newDirectory("postgresql");
		String data = directory.resolve("data").toString();
		run(withoutRoot(List.of(programs.resolve("initdb").toString(), "-D", data, "-U", "postgres", "-A", "trust",
				"-E", "UTF8", "--no-locale", "--no-sync")), new byte[0], directory.resolve("log"));
		int port = ServerPort.find();
		List<String> command = new ArrayList<>(List.of(programs.resolve("postgres").toString(), "-D", data, "-p",
				String.valueOf(port), "-h", "127.0.0.1"));
		List<String> all = new ArrayList<>(SETTINGS);
		all.addAll(List.of(settings));
		all.forEach((setting) -> command.addAll(List.of("-c", setting)));
		return new PostgresServer(port, withoutRoot(command), environment, directory);
	}

	/**
	 * Let the server lose everything that it has not written, and wait until it serves
	 * again. It does so itself if one of its processes was killed, because that may have
	 * destroyed the memory they share.
	 */
	public void crash() throws SQLException {
		try (Connection witness = open()) {
			try (Connection victim = open();
					Statement statement = victim.createStatement();
					ResultSet row = statement.executeQuery("select pg_backend_pid()")) {
				row.next();
				signal("KILL", row.getLong(1));
			}
			await("The crash", () -> !isOpen(witness));
		}
		awaitService();
	}

	private static boolean isOpen(Connection connection) {
		try {
			return connection.isValid(1);
		}
		catch (SQLException ex) {
			return false;
		}
	}

	private static void unpack(Path directory) throws IOException {
		String architecture = System.getProperty("os.arch").equals("amd64") ? "x86_64" : System.getProperty("os.arch");
		String system = System.getProperty("os.name").startsWith("Mac") ? "Darwin" : System.getProperty("os.name");
		try (InputStream archive = DefaultPostgresBinaryResolver.INSTANCE.getPgBinary(system, architecture);
				TarArchiveInputStream files = new TarArchiveInputStream(new XZInputStream(archive))) {
			for (TarArchiveEntry entry = files.getNextEntry(); entry != null; entry = files.getNextEntry()) {
				Path file = directory.resolve(entry.getName());
				if (entry.isDirectory()) {
					Files.createDirectories(file);
				}
				else {
					Files.createDirectories(file.getParent());
					if (entry.isSymbolicLink()) {
						Files.createSymbolicLink(file, Path.of(entry.getLinkName()));
					}
					else {
						Files.copy(files, file);
						file.toFile().setExecutable((entry.getMode() & 0100) != 0);
					}
				}
			}
		}
	}

}
