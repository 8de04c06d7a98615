// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Three ZooKeeper servers, each of which can be killed, or cut off from the other two
 * while its clients still reach it.
 */
public final class ZooKeeperEnsemble implements AutoCloseable {

	private static final int SIZE = 3;

	private final List<ZooKeeperServer> members = new ArrayList<>();

	private final List<Link> links = new ArrayList<>();

	private ZooKeeperEnsemble(boolean networks, List<String> options, List<String> settings) {
		// Distinct, although nobody listens on them yet
		int[] ports = IntStream.generate(ServerPort::find).distinct().limit(SIZE * 3).toArray();
		for (int i = 0; i < SIZE; i++) {
			List<String> all = new ArrayList<>(List.of("initLimit=10", "syncLimit=10"));
			all.addAll(settings);
			for (int j = 0; j < SIZE; j++) {
				int quorum = ports[SIZE + j];
				int elections = ports[2 * SIZE + j];
				all.add("server.%d=127.0.0.1:%s".formatted(j + 1,
						(networks && i != j) ? link(i, j, quorum, elections) : quorum + ":" + elections));
			}
			this.members.add(ZooKeeperServer.startMember(ports[i], i + 1, options, all));
		}
	}

	private String link(int from, int to, int quorumPort, int electionPort) {
		Link link = new Link(from, to, Network.toLater(quorumPort), Network.to(electionPort));
		this.links.add(link);
		return link.quorum.port() + ":" + link.elections.port();
	}

	/**
	 * Start an ensemble.
	 * @param settings as in {@code syncLimit=50}, with which members that are slow to
	 * answer each other stay together; both limits are in ticks of 200 ms, and after a
	 * partition a member may wait once for a leader that does not answer
	 */
	public static ZooKeeperEnsemble start(String... settings) {
		return start(true, List.of(), settings);
	}

	/**
	 * Start an ensemble whose members cannot be cut off, because no network of this JVM
	 * is between them.
	 * @param options of their JVMs; the later one of two applies
	 * @param settings as in {@code tickTime=200}
	 */
	public static ZooKeeperEnsemble startWithoutNetworks(List<String> options, String... settings) {
		return start(false, options, settings);
	}

	private static ZooKeeperEnsemble start(boolean networks, List<String> options, String... settings) {
		ZooKeeperEnsemble ensemble = new ZooKeeperEnsemble(networks, options, List.of(settings));
		ensemble.awaitComplete();
		return ensemble;
	}

	/**
	 * Return the addresses of all members.
	 */
	public String connectString() {
		return String.join(",", this.members.stream().map(ZooKeeperServer::address).toList());
	}

	public List<ZooKeeperServer> members() {
		return this.members;
	}

	/**
	 * Return the leader, after the election if one is under way.
	 */
	public ZooKeeperServer leader() {
		List<ZooKeeperServer> leaders = new ArrayList<>();
		ServerProcess.await("A leader", () -> {
			this.members.stream().filter(ZooKeeperServer::isLeader).findFirst().ifPresent(leaders::add);
			return !leaders.isEmpty();
		});
		return leaders.get(0);
	}

	public List<ZooKeeperServer> followers() {
		ZooKeeperServer leader = leader();
		return this.members.stream().filter((member) -> member != leader).toList();
	}

	/**
	 * Let nothing pass between a member and the others.
	 */
	public void isolate(ZooKeeperServer member) {
		int number = this.members.indexOf(member);
		this.links.stream()
			.filter((link) -> link.from == number || link.to == number)
			.flatMap(Link::networks)
			.forEach(Network::cut);
	}

	/**
	 * Let the members reach each other again, and wait until all of them do.
	 */
	public void heal() {
		this.links.stream().flatMap(Link::networks).forEach(Network::healWithReset);
		awaitComplete();
	}

	/**
	 * Wait until all members serve.
	 */
	public void awaitComplete() {
		this.members.forEach(ZooKeeperServer::awaitService);
	}

	@Override
	public void close() {
		this.members.forEach(ZooKeeperServer::close);
		this.links.stream().flatMap(Link::networks).forEach(Network::close);
	}

	/**
	 * The ways from one member to the ports of another one.
	 */
	private record Link(int from, int to, Network quorum, Network elections) {

		Stream<Network> networks() {
			return Stream.of(this.quorum, this.elections);
		}

	}

}
