// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.awaitility.Awaitility;

/**
 * A real Redis Cluster of three primaries on free ports of the loopback address.
 */
public final class EmbeddedRedisCluster implements AutoCloseable {

	private static final int NODES = 3;

	private static final int SLOTS = 16384;

	private final List<EmbeddedRedis> nodes;

	private EmbeddedRedisCluster(List<EmbeddedRedis> nodes) {
		this.nodes = nodes;
	}

	/**
	 * Start a cluster.
	 * @param options further options of each node
	 */
	public static EmbeddedRedisCluster start(String... options) {
		EmbeddedRedisCluster cluster = new EmbeddedRedisCluster(
				Stream.generate(() -> startNode(options)).limit(NODES).toList());
		cluster.join();
		return cluster;
	}

	/**
	 * Start a server that belongs to no cluster yet.
	 */
	public static EmbeddedRedis startNode(String... options) {
		try {
			String directory = Files.createTempDirectory("redis-cluster").toString();
			List<String> all = new ArrayList<>(List.of("--cluster-enabled", "yes", "--dir", directory));
			all.addAll(List.of(options));
			return EmbeddedRedis.startClusterNode(all);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Start a cluster of one server that clients reach through a network.
	 * @param server started by {@link #startNode}
	 * @param network the network in front of the server
	 */
	public static void joinAlone(EmbeddedRedis server, UnreliableNetwork network) {
		server.command("CONFIG", "SET", "cluster-announce-ip", "127.0.0.1");
		server.command("CONFIG", "SET", "cluster-announce-port", String.valueOf(network.port()));
		server.command(addSlots(0, SLOTS));
		Awaitility.await()
			.atMost(Duration.ofMinutes(1))
			.until(() -> server.command("CLUSTER", "INFO").contains("cluster_state:ok"));
	}

	private void join() {
		EmbeddedRedis first = this.nodes.get(0);
		for (int i = 0; i < NODES; i++) {
			EmbeddedRedis node = this.nodes.get(i);
			node.command("CLUSTER", "SET-CONFIG-EPOCH", String.valueOf(i + 1));
			node.command(addSlots(SLOTS * i / NODES, SLOTS * (i + 1) / NODES));
			first.command("CLUSTER", "MEET", "127.0.0.1", String.valueOf(node.port()));
		}
		Awaitility.await()
			.atMost(Duration.ofMinutes(1))
			.until(() -> this.nodes.stream()
				.allMatch((node) -> node.command("CLUSTER", "INFO").contains("cluster_state:ok")
						&& node.command("CLUSTER", "NODES").lines().count() == NODES));
	}

	private static String[] addSlots(int from, int to) {
		return Stream.concat(Stream.of("CLUSTER", "ADDSLOTS"), IntStream.range(from, to).mapToObj(String::valueOf))
			.toArray(String[]::new);
	}

	/**
	 * Return the addresses of all nodes.
	 */
	public List<String> addresses() {
		return this.nodes.stream().map((node) -> "127.0.0.1:" + node.port()).toList();
	}

	public List<EmbeddedRedis> nodes() {
		return this.nodes;
	}

	/**
	 * Return the node that serves a key.
	 */
	public EmbeddedRedis nodeOf(String key) {
		return this.nodes.stream()
			.filter((node) -> !answer(node, "EXISTS", key).startsWith("MOVED"))
			.findFirst()
			.orElseThrow();
	}

	/**
	 * Return the node that served a slot when the cluster was formed.
	 */
	public EmbeddedRedis nodeOfSlot(int slot) {
		int i = 0;
		while (slot >= SLOTS * (i + 1) / NODES) {
			i++;
		}
		return this.nodes.get(i);
	}

	/**
	 * Move the slot of a key, with all its keys, to another node while clients use it.
	 * @param pause runs while each node has a part of the slot
	 */
	public void moveSlotOf(String key, Runnable pause) {
		EmbeddedRedis source = nodeOf(key);
		EmbeddedRedis target = this.nodes.get((this.nodes.indexOf(source) + 1) % NODES);
		String slot = source.command("CLUSTER", "KEYSLOT", key);
		target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", source.command("CLUSTER", "MYID"));
		source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", target.command("CLUSTER", "MYID"));
		List<String> left = keysOf(source, slot);
		while (!left.isEmpty()) {
			answer(source, "MIGRATE", "127.0.0.1", String.valueOf(target.port()), left.get(0), "0", "5000");
			pause.run();
			left = keysOf(source, slot);
		}
		String owner = target.command("CLUSTER", "MYID");
		target.command("CLUSTER", "SETSLOT", slot, "NODE", owner);
		this.nodes.forEach((node) -> node.command("CLUSTER", "SETSLOT", slot, "NODE", owner));
	}

	private static List<String> keysOf(EmbeddedRedis node, String slot) {
		return node.command("CLUSTER", "GETKEYSINSLOT", slot, "100").lines().filter((key) -> !key.isEmpty()).toList();
	}

	/**
	 * Send a command about a key to the node that serves it.
	 */
	public String command(String... command) {
		return IntStream.range(0, NODES)
			.mapToObj((i) -> answer(this.nodes.get(i), command))
			.filter((answer) -> !answer.startsWith("MOVED"))
			.findFirst()
			.orElseThrow();
	}

	private static String answer(EmbeddedRedis node, String... command) {
		try {
			return node.command(command);
		}
		catch (IllegalStateException ex) {
			return String.valueOf(ex.getMessage());
		}
	}

	@Override
	public void close() {
		this.nodes.forEach(EmbeddedRedis::close);
	}

}
