// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.PrimitiveIterator;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.apache.zookeeper.server.quorum.QuorumPeerMain;

import org.springframework.util.FileSystemUtils;

import io.github.lockstarter.faults.nemesis.TcpProxy.Weather;
import io.github.lockstarter.faults.worker.ServerAddress;
import io.github.lockstarter.faults.worker.ServerAddress.Kind;
import io.github.lockstarter.testsupport.ServerPort;

/**
 * Three members of a ZooKeeper ensemble, a network from each worker to each member, and
 * one from each member to each other one.
 */
final class EnsembleSite implements ServerSite {

	private static final int SIZE = 3;

	private final Path directory = Files.createTempDirectory("ensemble");

	/** For clients, the quorum, and elections, of each member. */
	private final List<int[]> ports = freePorts();

	/** From a member to a member. */
	private final List<List<List<TcpProxy>>> links = IntStream.range(0, SIZE).mapToObj(this::links).toList();

	private final List<List<TcpProxy>> networks = Stream
		.generate(() -> this.ports.stream().map((member) -> TcpProxy.to(member[0])).toList())
		.limit(Crew.SIZE)
		.toList();

	private final List<ServerProcess> members = new ArrayList<>();

	private final LockNodes nodes = new LockNodes(
			String.join(",", this.ports.stream().map((member) -> "127.0.0.1:" + member[0]).toList()));

	EnsembleSite() throws Exception {
		for (int member = 0; member < SIZE; member++) {
			this.members.add(launch(member));
		}
		awaitComplete();
	}

	private static List<int[]> freePorts() {
		PrimitiveIterator.OfInt ports = IntStream.generate(ServerPort::find).distinct().iterator();
		return Stream.generate(() -> new int[] { ports.nextInt(), ports.nextInt(), ports.nextInt() })
			.limit(SIZE)
			.toList();
	}

	private List<List<TcpProxy>> links(int from) {
		return this.ports.stream().map((to) -> List.of(TcpProxy.to(to[1]), TcpProxy.to(to[2]))).toList();
	}

	private ServerProcess launch(int member) throws IOException {
		Path home = Files.createDirectories(this.directory.resolve("member" + member));
		Files.writeString(home.resolve("myid"), Integer.toString(member + 1));
		List<String> settings = new ArrayList<>(
				List.of("tickTime=200", "initLimit=50", "syncLimit=10", "maxSessionTimeout=60000", "maxClientCnxns=0",
						"admin.enableServer=false", "4lw.commands.whitelist=srvr", "clientPortAddress=127.0.0.1",
						"clientPort=" + this.ports.get(member)[0], "dataDir=" + home));
		for (int other = 0; other < SIZE; other++) {
			int[] own = this.ports.get(other);
			List<TcpProxy> link = this.links.get(member).get(other);
			settings.add("server.%d=127.0.0.1:%d:%d".formatted(other + 1,
					(other == member) ? own[1] : link.get(0).port(), (other == member) ? own[2] : link.get(1).port()));
		}
		Path file = Files.write(home.resolve("zoo.cfg"), settings);
		return new ServerProcess(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx128m",
				"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dzookeeper.forceSync=no",
				"-Dzookeeper.jmx.log4j.disable=true", "-cp", System.getProperty("java.class.path"),
				QuorumPeerMain.class.getName(), file.toString()), Map.of(), home.resolve("log"));
	}

	List<ServerProcess> members() {
		return this.members;
	}

	/**
	 * Return the leader. If an election is under way, wait for it.
	 */
	int leader() throws InterruptedException {
		AtomicInteger leader = new AtomicInteger();
		ServerProcess.await("A leader", () -> {
			OptionalInt elected = IntStream.range(0, SIZE)
				.filter((member) -> mode(member).contains("Mode: leader"))
				.findFirst();
			elected.ifPresent(leader::set);
			return elected.isPresent();
		});
		return leader.get();
	}

	List<Integer> followers() throws InterruptedException {
		int leader = leader();
		return IntStream.range(0, SIZE).filter((member) -> member != leader).boxed().toList();
	}

	/**
	 * Wait until all members serve; one that belongs to no majority does not.
	 */
	void awaitComplete() throws InterruptedException {
		ServerProcess.await("The ensemble",
				() -> IntStream.range(0, SIZE).allMatch((member) -> mode(member).contains("Mode: ")));
	}

	private String mode(int member) {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.ports.get(member)[0])) {
			socket.setSoTimeout(1000);
			socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
			socket.getOutputStream().flush();
			return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
		}
		catch (IOException ex) {
			return "down";
		}
	}

	/**
	 * Let nothing pass between a member and the others while work is done.
	 */
	void isolate(int member, Work work) throws Exception {
		List<TcpProxy> cut = new ArrayList<>();
		for (int other = 0; other < SIZE; other++) {
			cut.addAll(this.links.get(member).get(other));
			cut.addAll(this.links.get(other).get(member));
		}
		cut.forEach((link) -> link.setWeather(Weather.BLACK_HOLE));
		work.run();
		cut.forEach((link) -> link.setWeather(Weather.FINE));
	}

	@Override
	public ServerAddress address(int worker) {
		return new ServerAddress(Kind.ZOOKEEPER,
				this.networks.get(worker).stream().map((network) -> "127.0.0.1:" + network.port()).toList());
	}

	@Override
	public List<TcpProxy> networks(int worker) {
		return this.networks.get(worker);
	}

	@Override
	public List<String> keys() {
		return this.nodes.list();
	}

	@Override
	public void forget() {
		this.nodes.delete();
	}

	@Override
	public void kill() {
		this.members.forEach(ServerProcess::kill);
	}

	@Override
	public void restart() throws Exception {
		for (ServerProcess member : this.members) {
			member.start();
		}
		awaitComplete();
	}

	@Override
	public void pause() throws Exception {
		for (ServerProcess member : this.members) {
			member.pause();
		}
	}

	@Override
	public void resume() throws Exception {
		for (ServerProcess member : this.members) {
			member.resume();
		}
		awaitComplete();
	}

	@Override
	public void close() {
		this.nodes.close();
		this.networks.forEach((networks) -> networks.forEach(TcpProxy::close));
		kill();
		this.links.forEach((from) -> from.forEach((to) -> to.forEach(TcpProxy::close)));
		FileSystemUtils.deleteRecursively(this.directory.toFile());
	}

}
