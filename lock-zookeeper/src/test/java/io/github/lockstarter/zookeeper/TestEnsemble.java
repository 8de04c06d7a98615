// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;

import static org.awaitility.Awaitility.await;

/**
 * Three real servers, each of which can be killed, or cut off from the other two while
 * its clients still reach it.
 */
final class TestEnsemble implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final List<InstanceSpec> members;

	private final List<Link> links = new ArrayList<>();

	private final TestingCluster cluster;

	private TestEnsemble(Map<String, Object> properties) throws IOException {
		this.members = Stream.generate(() -> TestServers.spec(properties)).limit(3).toList();
		Map<InstanceSpec, Collection<InstanceSpec>> views = new LinkedHashMap<>();
		for (InstanceSpec member : this.members) {
			List<InstanceSpec> view = new ArrayList<>();
			for (InstanceSpec other : this.members) {
				view.add(other.equals(member) ? member : proxied(member, other));
			}
			views.put(member, view);
		}
		this.cluster = new TestingCluster(views);
	}

	/**
	 * Start an ensemble whose members soon notice that they are cut off.
	 */
	static TestEnsemble start() throws Exception {
		return start(Map.of());
	}

	/**
	 * Start an ensemble for tests of something else than its members.
	 */
	static TestEnsemble startPatient() throws Exception {
		return start(TestServers.PATIENT_MEMBERS);
	}

	private static TestEnsemble start(Map<String, Object> properties) throws Exception {
		TestEnsemble ensemble = new TestEnsemble(properties);
		ensemble.cluster.start();
		await().atMost(PATIENCE).until(ensemble::isComplete);
		return ensemble;
	}

	private InstanceSpec proxied(InstanceSpec member, InstanceSpec other) throws IOException {
		Link link = new Link(member, other, TestNetwork.to(other.getElectionPort()),
				TestNetwork.to(other.getQuorumPort()));
		this.links.add(link);
		return new InstanceSpec(other.getDataDirectory(), other.getPort(), link.elections().port(),
				link.quorum().port(), false, other.getServerId(), TestServers.TICK_MILLIS, -1);
	}

	/**
	 * Return the addresses of all members.
	 */
	String connectString() {
		return String.join(",", this.members.stream().map(TestEnsemble::address).toList());
	}

	static String address(InstanceSpec member) {
		return "127.0.0.1:" + member.getPort();
	}

	List<InstanceSpec> members() {
		return this.members;
	}

	/**
	 * Return the leader, after the election if one is under way.
	 */
	InstanceSpec leader() {
		return await().atMost(PATIENCE)
			.until(() -> this.members.stream().filter((member) -> mode(member).contains("Mode: leader")).findFirst(),
					Optional::isPresent)
			.orElseThrow();
	}

	List<InstanceSpec> followers() {
		InstanceSpec leader = leader();
		return this.members.stream().filter((member) -> !member.equals(leader)).toList();
	}

	private boolean isComplete() {
		return this.members.stream().allMatch(TestEnsemble::isServing);
	}

	/** A member that belongs to no majority serves nobody. */
	private static boolean isServing(InstanceSpec member) {
		return mode(member).contains("Mode: ");
	}

	private static String mode(InstanceSpec member) {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), member.getPort())) {
			socket.setSoTimeout(1000);
			socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
			socket.getOutputStream().flush();
			return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
		}
		catch (IOException ex) {
			return "down";
		}
	}

	void kill(InstanceSpec member) throws Exception {
		this.cluster.killServer(member);
	}

	void restart(InstanceSpec member) throws Exception {
		this.cluster.restartServer(member);
	}

	/**
	 * Let nothing pass between a member and the others.
	 */
	void isolate(InstanceSpec member) {
		this.links.stream().filter((link) -> link.concerns(member)).forEach(Link::cut);
	}

	/**
	 * Wait until an isolated member knows that it is alone.
	 */
	void awaitAlone(InstanceSpec member) {
		await().atMost(PATIENCE).until(() -> !isServing(member));
	}

	/**
	 * Let the members reach each other again, and wait until all of them do.
	 */
	void heal() {
		this.links.forEach(Link::heal);
		await().atMost(PATIENCE).until(this::isComplete);
	}

	@Override
	public void close() throws IOException {
		this.links.forEach(Link::heal);
		this.cluster.close();
		for (Link link : this.links) {
			link.elections().close();
			link.quorum().close();
		}
	}

	private record Link(InstanceSpec from, InstanceSpec to, TestNetwork elections, TestNetwork quorum) {

		boolean concerns(InstanceSpec member) {
			return this.from.equals(member) || this.to.equals(member);
		}

		void cut() {
			this.elections.cut();
			this.quorum.cut();
		}

		void heal() {
			this.elections.heal();
			this.quorum.heal();
		}

	}

}
