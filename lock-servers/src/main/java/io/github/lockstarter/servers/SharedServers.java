// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

/**
 * The servers that all JVMs of a build share, because they start slowly. The first JVM
 * that needs one starts a holder of it, a process that ends a minute after the last JVM
 * that has used it, however that ended. Each call returns an empty place in the server,
 * for a test class or a JVM. Who pauses, kills or configures a server, or counts all of
 * its commands, starts one of its own.
 */
public final class SharedServers {

	/** System property with the time until unused servers end. */
	static final String IDLE_MILLIS_PROPERTY = "lock.servers.idle-millis";

	/** Even on a busy machine, a holder that runs answers sooner. */
	private static final Duration PATIENCE = Duration.ofMinutes(3);

	private static final Map<Kind, Client> clients = new EnumMap<>(Kind.class);

	private SharedServers() {
	}

	/**
	 * Return the JDBC URL of a new database in PostgreSQL. Notifications and advisory
	 * locks are its own, {@code pg_stat_activity} shows also the sessions of others.
	 */
	public static String postgres() {
		return newPlace(Kind.POSTGRESQL);
	}

	/**
	 * Return the JDBC URL of a new database in MariaDB.
	 */
	public static String mariaDb() {
		return newPlace(Kind.MARIADB);
	}

	/**
	 * Return the connect string of ZooKeeper with a new root node.
	 */
	public static String zooKeeper() {
		return newPlace(Kind.ZOOKEEPER);
	}

	/**
	 * Return a new database in Redis. Its keys are its own, its channels are not.
	 */
	public static RedisDatabase redis() {
		String[] place = newPlace(Kind.REDIS).split(" ");
		return new RedisDatabase(Integer.parseInt(place[0]), Integer.parseInt(place[1]));
	}

	private static synchronized String newPlace(Kind kind) {
		try {
			Client client = clients.get(kind);
			if (client != null) {
				try {
					return client.newPlace();
				}
				catch (IOException ex) {
					// The holder was killed, so another one takes its place
					client.socket.close();
				}
			}
			Client next = Client.connect(kind);
			clients.put(kind, next);
			return next.newPlace();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
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
	private enum Kind {

		POSTGRESQL {

			@Override
			Place start() {
				PostgresServer server = PostgresServer.start();
				return (number) -> server.create("test" + number);
			}

		},

		MARIADB {

			@Override
			Place start() {
				MariaDbServer server = MariaDbServer.start();
				return (number) -> server.create("test" + number);
			}

		},

		REDIS {

			@Override
			Place start() {
				RedisServer server = RedisServer.start("--databases", "10000");
				return (number) -> server.port() + " " + number;
			}

			@Override
			String key() {
				return super.key()
						+ Integer.toHexString(System.getProperty(RedisServer.EXECUTABLE_PROPERTY, "").hashCode());
			}

		},

		ZOOKEEPER {

			@Override
			Place start() throws Exception {
				ZooKeeperServer server = ZooKeeperServer.start();
				return (number) -> server.createNode("/test" + number);
			}

		};

		/**
		 * Start the server, in the process that ends with it.
		 */
		abstract Place start() throws Exception;

		/**
		 * Return the name of its files. JVMs that need other servers use others.
		 */
		String key() {
			return name().toLowerCase(Locale.ROOT);
		}

	}

	/**
	 * Finds places in a server.
	 */
	private interface Place {

		String create(int number) throws Exception;

	}

	/**
	 * A connection to a holder, which tells that this JVM lives.
	 */
	private record Client(Socket socket, BufferedReader input) {

		static Client connect(Kind kind) throws IOException {
			Path home = Files.createDirectories(home());
			try (FileChannel lock = FileChannel.open(home.resolve(kind.key() + ".lock"), StandardOpenOption.CREATE,
					StandardOpenOption.WRITE)) {
				lock.lock();
				Path file = home.resolve(kind.key() + ".holder");
				Client running = Files.exists(file) ? open(Files.readString(file)) : null;
				if (running != null) {
					return running;
				}
				String location = launch(kind, home);
				Files.writeString(file, location);
				Client started = open(location);
				if (started == null) {
					throw new IOException("The holder of " + kind + " has ended at once");
				}
				return started;
			}
		}

		/**
		 * Connect to a holder.
		 * @param location its port, what it says to prove that it is the one, and its
		 * process
		 */
		private static @Nullable Client open(String location) throws IOException {
			String[] parts = location.split(" ");
			if (parts.length == 3) {
				Socket socket = new Socket();
				try {
					socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(parts[0])));
					socket.setSoTimeout(Math.toIntExact(PATIENCE.toMillis()));
					Client client = new Client(socket, reader(socket.getInputStream()));
					if (parts[1].equals(client.input.readLine())) {
						return client;
					}
				}
				catch (IOException ex) {
					// The holder has ended
				}
				socket.close();
			}
			return null;
		}

		private static String launch(Kind kind, Path home) throws IOException {
			Path log = home.resolve(kind.key() + ".log");
			List<String> options = List.of(IDLE_MILLIS_PROPERTY, RedisServer.EXECUTABLE_PROPERTY)
				.stream()
				.filter((property) -> System.getProperty(property) != null)
				.map((property) -> "-D" + property + "=" + System.getProperty(property))
				.toList();
			// It must not keep the output of this JVM, for whose end others wait
			Process process = new ProcessBuilder(ServerProcess.java(options, Holder.class.getName(), kind.name()))
				.redirectError(log.toFile())
				.start();
			try (BufferedReader output = reader(process.getInputStream())) {
				String location = output.readLine();
				if (location == null) {
					throw new IOException("No server of the kind " + kind + ": " + Files.readString(log));
				}
				return location;
			}
		}

		String newPlace() throws IOException {
			this.socket.getOutputStream().write('\n');
			String place = this.input.readLine();
			if (place == null) {
				throw new IOException("The holder has ended");
			}
			return place;
		}

	}

	private static BufferedReader reader(InputStream input) {
		return new BufferedReader(new InputStreamReader(input, StandardCharsets.UTF_8));
	}

	/**
	 * The process of a server that JVMs share.
	 */
	static final class Holder {

		private final String secret = UUID.randomUUID().toString();

		private final Place place;

		private final AtomicInteger places = new AtomicInteger();

		private int users;

		private long unusedSince = System.nanoTime();

		private Holder(Place place) {
			this.place = place;
		}

		public static void main(String[] args) throws Exception {
			try {
				new Holder(Kind.valueOf(args[0]).start()).run();
			}
			catch (Throwable ex) {
				ex.printStackTrace();
			}
			// Libraries may have left threads behind
			System.exit(0);
		}

		private void run() throws IOException {
			try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
				int idle = Integer.getInteger(IDLE_MILLIS_PROPERTY, 60_000);
				listener.setSoTimeout(idle);
				System.out
					.println("%d %s %d".formatted(listener.getLocalPort(), this.secret, ProcessHandle.current().pid()));
				while (!isUnusedFor(idle)) {
					try {
						Socket user = listener.accept();
						count(1);
						new Thread(() -> serve(user)).start();
					}
					catch (SocketTimeoutException ex) {
						// Time to look whether anybody is left
					}
				}
			}
		}

		private void serve(Socket user) {
			try (user) {
				write(user, this.secret);
				while (user.getInputStream().read() >= 0) {
					write(user, this.place.create(this.places.incrementAndGet()));
				}
			}
			catch (Exception ex) {
				ex.printStackTrace();
			}
			count(-1);
		}

		private synchronized void count(int change) {
			this.users += change;
			this.unusedSince = System.nanoTime();
		}

		private synchronized boolean isUnusedFor(int millis) {
			return this.users == 0 && System.nanoTime() - this.unusedSince >= TimeUnit.MILLISECONDS.toNanos(millis);
		}

		private static void write(Socket user, String line) throws IOException {
			user.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
		}

	}

	/**
	 * A database of Redis for one test.
	 *
	 * @param port the port of the server
	 * @param number the number of the database, which no other test has
	 */
	public record RedisDatabase(int port, int number) {

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
