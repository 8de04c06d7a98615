// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;

import io.github.lockstarter.servers.ServerPort;
import io.github.lockstarter.servers.ServerProcess;

/**
 * A real PgBouncer before PostgreSQL that pools transactions, on one connection to the
 * server.
 */
final class PgBouncer implements AutoCloseable {

	private static final Path EXECUTABLE = Path.of("/usr/sbin/pgbouncer");

	private final ServerProcess process;

	private final int port;

	private final String database;

	private PgBouncer(ServerProcess process, int port, String database) {
		this.process = process;
		this.port = port;
		this.database = database;
	}

	static boolean isInstalled() {
		return Files.isExecutable(EXECUTABLE);
	}

	static PgBouncer start() throws IOException {
		URI postgres = URI.create(TestDatabase.POSTGRESQL.url().substring("jdbc:".length()));
		String database = postgres.getPath().substring(1);
		int port = ServerPort.find();
		Path folder = ServerProcess.newDirectory("pgbouncer");
		// PgBouncer refuses to run as root
		Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
		Path settings = Files.write(folder.resolve("pgbouncer.ini"),
				List.of("[databases]", database + " = host=127.0.0.1 port=" + postgres.getPort() + " user=postgres",
						"[pgbouncer]", "listen_addr = 127.0.0.1", "listen_port = " + port, "unix_socket_dir =",
						"auth_type = any", "pool_mode = transaction", "default_pool_size = 1",
						"ignore_startup_parameters = extra_float_digits", "user = nobody"));
		Files.setPosixFilePermissions(settings, PosixFilePermissions.fromString("rw-r--r--"));
		ServerProcess process = ServerProcess.start(List.of(EXECUTABLE.toString(), settings.toString()), Map.of(),
				folder);
		process.await(() -> answers(port));
		return new PgBouncer(process, port, database);
	}

	private static boolean answers(int port) {
		try (Socket socket = new Socket("127.0.0.1", port)) {
			return socket.isConnected();
		}
		catch (IOException ex) {
			return false;
		}
	}

	/**
	 * Return the URL. The connection to the server changes between transactions, so
	 * statements cannot be prepared there.
	 */
	String url() {
		return "jdbc:postgresql://127.0.0.1:" + this.port + "/" + this.database + "?user=postgres&prepareThreshold=0";
	}

	@Override
	public void close() {
		this.process.close();
	}

}
