// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;

/**
 * A PgBouncer before PostgreSQL that pools transactions, on one connection to the server.
 */
public final class PgBouncer extends ServerProcess {

	private static final Path EXECUTABLE = Path.of("/usr/sbin/pgbouncer");

	private final String url;

	private PgBouncer(Path settings, Path directory, int port, String database) {
		super(List.of(EXECUTABLE.toString(), settings.toString()), Map.of(), directory);
		this.url = "jdbc:postgresql://127.0.0.1:" + port + "/" + database + "?user=postgres&prepareThreshold=0";
		await(() -> answers(port));
	}

	public static boolean isInstalled() {
		return Files.isExecutable(EXECUTABLE);
	}

	/**
	 * Start a proxy.
	 * @param url the JDBC URL of a database in PostgreSQL
	 */
	public static PgBouncer start(String url) {
		URI postgres = URI.create(url.substring("jdbc:".length()));
		String database = postgres.getPath().substring(1);
		int port = ServerPort.find();
		Path directory = newDirectory("pgbouncer");
		try {
			// PgBouncer refuses to run as root
			Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
			Path settings = Files.write(directory.resolve("pgbouncer.ini"),
					List.of("[databases]", database + " = host=127.0.0.1 port=" + postgres.getPort() + " user=postgres",
							"[pgbouncer]", "listen_addr = 127.0.0.1", "listen_port = " + port, "unix_socket_dir =",
							"auth_type = any", "pool_mode = transaction", "default_pool_size = 1",
							"ignore_startup_parameters = extra_float_digits", "user = nobody"));
			Files.setPosixFilePermissions(settings, PosixFilePermissions.fromString("rw-r--r--"));
			return new PgBouncer(settings, directory, port, database);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
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
	 * Return the JDBC URL. The connection to the server changes between transactions, so
	 * statements cannot be prepared there.
	 */
	public String url() {
		return this.url;
	}

}
