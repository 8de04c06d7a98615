// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The servers that all JVMs of a build share, because they start slowly. They live as
 * long as the build, however that ends, also while none of its JVMs uses them. Each call
 * returns an empty place in the server, for a test class or a JVM. Who pauses, kills or
 * configures a server, or counts all of its commands, starts one of its own.
 */
public final class SharedServers {

	private static final Map<Kind, ServerHost> hosts = new ConcurrentHashMap<>();

	private SharedServers() {
	}

	/**
	 * Return the JDBC URL of a new database in PostgreSQL. Notifications and advisory
	 * locks are its own, {@code pg_stat_activity} shows also the sessions of others.
	 */
	public static String postgres() {
		return DatabaseServer.create(address(Kind.POSTGRESQL), newName());
	}

	/**
	 * Return the JDBC URL of a new database in MariaDB.
	 */
	public static String mariaDb() {
		return DatabaseServer.create(address(Kind.MARIADB), newName());
	}

	/**
	 * Return the connect string of ZooKeeper with a new root node.
	 */
	public static String zooKeeper() {
		return ZooKeeperServer.createNode(address(Kind.ZOOKEEPER), "/" + newName());
	}

	/**
	 * Return a new database in Redis. Its keys are its own, its channels are not.
	 */
	public static RedisDatabase redis() {
		RedisDatabase first = new RedisDatabase(Integer.parseInt(address(Kind.REDIS)), 0);
		return new RedisDatabase(first.port, Integer.parseInt(first.command("INCR", "databases")));
	}

	private static String newName() {
		return "test" + UUID.randomUUID().toString().replace("-", "");
	}

	private static String address(Kind kind) {
		// Not for all of them, because servers may start at the same time
		synchronized (kind) {
			try {
				ServerHost host = hosts.get(kind);
				if (host != null && !host.isAlive()) {
					host.close();
					host = null;
				}
				if (host == null) {
					ProcessHandle build = build();
					// JVMs that need another Redis share nothing with these
					int redis = System.getProperty(RedisServer.EXECUTABLE_PROPERTY, "").hashCode();
					host = ServerHost.join(kind,
							home().resolve("build-%d-%s".formatted(build.pid(), Integer.toHexString(redis))), build);
					hosts.put(kind, host);
				}
				return host.address();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
	}

	/**
	 * Return the JVM of Maven, or of another tool that has started this one. Without one,
	 * this JVM is a build.
	 */
	private static ProcessHandle build() {
		ProcessHandle current = ProcessHandle.current();
		return Stream
			.iterate(current.parent(), Optional::isPresent, (process) -> process.flatMap(ProcessHandle::parent))
			.flatMap(Optional::stream)
			.filter((process) -> process.info().command().filter((command) -> command.endsWith("java")).isPresent())
			.findFirst()
			.orElse(current);
	}

	/**
	 * Return the directory for the files that JVMs of a build share.
	 */
	static Path home() {
		for (Path path = Path.of("").toAbsolutePath(); path != null; path = path.getParent()) {
			if (Files.isDirectory(path.resolve(".mvn"))) {
				return path.resolve("target").resolve("servers");
			}
		}
		return Path.of(System.getProperty("java.io.tmpdir"), "lock-servers-" + System.getProperty("user.name"));
	}

	/**
	 * The kinds of servers.
	 */
	private enum Kind implements Supplier<String> {

		POSTGRESQL(() -> PostgresServer.start().url()),

		MARIADB(() -> MariaDbServer.start().url()),

		REDIS(() -> String
			.valueOf(RedisServer.start("--databases", "10000", "--rename-command", "FLUSHALL", "").port())),

		ZOOKEEPER(() -> ZooKeeperServer.start().address());

		private final Supplier<String> start;

		Kind(Supplier<String> start) {
			this.start = start;
		}

		@Override
		public String get() {
			return this.start.get();
		}

	}

	/**
	 * A database of Redis for one test.
	 *
	 * @param port the port of the server
	 * @param number the number of the database, which no other test has
	 */
	public record RedisDatabase(int port, int number) {

		public String url() {
			return "redis://127.0.0.1:" + this.port + "/" + this.number;
		}

		/**
		 * Send a command.
		 * @return the answer as text, an array with its elements on lines of their own
		 */
		public String command(String... command) {
			try (RedisSocket socket = new RedisSocket(this.port)) {
				socket.command("SELECT", Integer.toString(this.number));
				return socket.command(command);
			}
		}

	}

}
