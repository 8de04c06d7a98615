// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/**
 * A ZooKeeper server of one's own, alone or a member of a {@link ZooKeeperEnsemble}, with
 * short ticks, so that short sessions are allowed. It keeps its nodes when it is killed
 * and started again.
 */
public final class ZooKeeperServer extends ServerProcess {

	/** Name and value of each setting; the later one of two applies. */
	private static final List<String> SETTINGS = List.of("tickTime=200", "maxSessionTimeout=60000", "maxClientCnxns=0",
			"admin.enableServer=false", "4lw.commands.whitelist=srvr", "clientPortAddress=127.0.0.1");

	/**
	 * The machine does not fail in tests, and its disk may be slow. Locks that nobody
	 * uses vanish soon.
	 */
	private static final List<String> OPTIONS = List.of("-Dzookeeper.forceSync=no",
			"-Dzookeeper.jmx.log4j.disable=true", "-Dznode.container.checkIntervalMs=100");

	private static final int SESSION_MILLIS = 10_000;

	private final int port;

	private ZooKeeperServer(int port, List<String> command, Path directory) {
		super(command, Map.of(), directory);
		this.port = port;
	}

	/**
	 * Start a member of an ensemble.
	 * @param port for clients
	 * @param number its number in the ensemble
	 * @param options of its JVM
	 * @param settings as in {@code tickTime=200}
	 */
	static ZooKeeperServer startMember(int port, int number, List<String> options, List<String> settings) {
		Path directory = newDirectory("zookeeper");
		List<String> all = new ArrayList<>(SETTINGS);
		all.addAll(List.of("clientPort=" + port, "dataDir=" + directory));
		all.addAll(settings);
		try {
			Files.writeString(directory.resolve("myid"), Integer.toString(number));
			Path file = Files.write(directory.resolve("zoo.cfg"), all);
			return new ZooKeeperServer(port, java(Stream.concat(OPTIONS.stream(), options.stream()).toList(),
					"org.apache.zookeeper.server.quorum.QuorumPeerMain", file.toString()), directory);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Start a server.
	 * @param settings as in {@code tickTime=200}
	 */
	public static ZooKeeperServer start(String... settings) {
		return start(List.of(), settings);
	}

	/**
	 * Start a server.
	 * @param options of its JVM; the later one of two applies
	 * @param settings as in {@code tickTime=200}
	 */
	public static ZooKeeperServer start(List<String> options, String... settings) {
		ZooKeeperServer server = startMember(ServerPort.find(), 1, options, List.of(settings));
		server.awaitService();
		return server;
	}

	public int port() {
		return this.port;
	}

	/**
	 * Return the connect string of clients.
	 */
	public String address() {
		return "127.0.0.1:" + this.port;
	}

	/**
	 * Return whether the server serves clients. A member that belongs to no majority does
	 * not.
	 */
	public boolean isServing() {
		return status().contains("Mode: ");
	}

	boolean isLeader() {
		return status().contains("Mode: leader");
	}

	private String status() {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.port)) {
			// A server that has just begun to listen may never answer
			socket.setSoTimeout(200);
			socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
			return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
		}
		catch (IOException ex) {
			return "down";
		}
	}

	/**
	 * Wait until the server serves clients.
	 */
	public void awaitService() {
		await(this::isServing);
	}

	/**
	 * Create a node.
	 * @return the connect string of clients whose root it is
	 */
	public String createNode(String path) {
		return createNode(address(), path);
	}

	static String createNode(String address, String path) {
		try {
			ZooKeeper client = new ZooKeeper(address, SESSION_MILLIS, (event) -> {
			});
			try {
				await(address, () -> client.getState().isConnected());
				client.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
				return address + path;
			}
			finally {
				closeLater(client);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (KeeperException ex) {
			throw new IllegalStateException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted", ex);
		}
	}

	/** A client sleeps at its end, and many tests create a node. */
	private static void closeLater(ZooKeeper client) {
		Thread thread = new Thread(() -> {
			try {
				client.close();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}, "zookeeper-close");
		thread.setDaemon(true);
		thread.start();
	}

}
