// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A real Redis Cluster of three primaries on free ports of the loopback address.
 */
public final class RedisCluster implements AutoCloseable {

	private static final int NODES = 3;

	private static final int SLOTS = 16384;

	private static final int LOOKS_PER_PROMOTION = 1200;

	private final List<RedisServer> nodes;

	private RedisCluster(List<RedisServer> nodes) {
		this.nodes = nodes;
	}

	/**
	 * Start a cluster.
	 * @param options further options of each node
	 */
	public static RedisCluster start(String... options) {
		RedisCluster cluster = new RedisCluster(
				Stream.generate(() -> RedisServer.startClusterNode(options)).limit(NODES).toList());
		cluster.join();
		return cluster;
	}

	/**
	 * Start a cluster of one server that clients reach through a network.
	 * @param server started by {@link RedisServer#startClusterNode}
	 * @param network the network in front of the server
	 */
	public static void joinAlone(RedisServer server, Network network) {
		server.command("CONFIG", "SET", "cluster-announce-ip", "127.0.0.1");
		server.command("CONFIG", "SET", "cluster-announce-port", String.valueOf(network.port()));
		server.command(addSlots(0, SLOTS));
		ServerProcess.await("The cluster", () -> server.command("CLUSTER", "INFO").contains("cluster_state:ok"));
	}

	private void join() {
		RedisServer first = this.nodes.get(0);
		for (int i = 0; i < NODES; i++) {
			RedisServer node = this.nodes.get(i);
			node.command("CLUSTER", "SET-CONFIG-EPOCH", String.valueOf(i + 1));
			node.command(addSlots(SLOTS * i / NODES, SLOTS * (i + 1) / NODES));
			first.command("CLUSTER", "MEET", "127.0.0.1", String.valueOf(node.port()));
		}
		ServerProcess.await("The cluster",
				() -> this.nodes.stream()
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
		return this.nodes.stream().map(RedisServer::address).toList();
	}

	public List<RedisServer> nodes() {
		return this.nodes;
	}

	/**
	 * Return the node that serves a key.
	 */
	public RedisServer nodeOf(String key) {
		return this.nodes.stream()
			.filter((node) -> !answer(node, "EXISTS", key).startsWith("MOVED"))
			.findFirst()
			.orElseThrow();
	}

	/**
	 * Return the node that served a slot when the cluster was formed.
	 */
	public RedisServer nodeOfSlot(int slot) {
		int i = 0;
		while (slot >= SLOTS * (i + 1) / NODES) {
			i++;
		}
		return this.nodes.get(i);
	}

	/**
	 * Let a new replica replace the node of a key by a manual failover, which loses no
	 * write, and then that node the replica.
	 * @param pause runs while the replica is the primary
	 */
	public void failOver(String key, Runnable pause) {
		RedisServer node = nodeOf(key);
		String id = node.command("CLUSTER", "MYID");
		String other;
		try (RedisServer replica = RedisServer.startClusterNode()) {
			other = replica.command("CLUSTER", "MYID");
			replica.command("CLUSTER", "MEET", "127.0.0.1", String.valueOf(node.port()));
			ServerProcess.await("The new node", () -> replica.command("CLUSTER", "INFO").contains("cluster_state:ok"));
			replica.command("CLUSTER", "REPLICATE", id);
			promote(replica);
			pause.run();
			promote(node);
		}
		this.nodes.forEach((known) -> answer(known, "CLUSTER", "FORGET", other));
	}

	private void promote(RedisServer replica) {
		String id = replica.command("CLUSTER", "MYID");
		// Those that do not know it as a replica would not vote for it
		ServerProcess.await("The replica",
				() -> replica.command("ROLE").contains("connected") && this.nodes.stream()
					.allMatch((node) -> node.command("CLUSTER", "NODES")
						.lines()
						.anyMatch((line) -> line.startsWith(id) && line.contains("slave"))));
		AtomicInteger looks = new AtomicInteger();
		ServerProcess.await("The promotion", () -> {
			// One that gets too few votes ends after five seconds
			if (looks.getAndIncrement() % LOOKS_PER_PROMOTION == 0) {
				answer(replica, "CLUSTER", "FAILOVER");
			}
			return replica.command("ROLE").startsWith("master");
		});
	}

	/**
	 * Move the slot of a key, with all its keys, to another node while clients use it.
	 * @param pause runs while each node has a part of the slot
	 */
	public void moveSlotOf(String key, Runnable pause) {
		RedisServer source = nodeOf(key);
		RedisServer target = this.nodes.get((this.nodes.indexOf(source) + 1) % NODES);
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

	private static List<String> keysOf(RedisServer node, String slot) {
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

	private static String answer(RedisServer node, String... command) {
		try {
			return node.command(command);
		}
		catch (IllegalStateException ex) {
			return String.valueOf(ex.getMessage());
		}
	}

	@Override
	public void close() {
		this.nodes.forEach(RedisServer::close);
	}

}
