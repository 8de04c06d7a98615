// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.util.List;
import java.util.stream.Stream;

import io.github.lockstarter.faults.worker.ServerAddress;
import io.github.lockstarter.faults.worker.ServerAddress.Kind;
import io.github.lockstarter.servers.Network;
import io.github.lockstarter.servers.ZooKeeperEnsemble;
import io.github.lockstarter.servers.ZooKeeperServer;

/**
 * The members of a ZooKeeper ensemble, and a network from each worker to each member.
 */
final class EnsembleSite implements ServerSite {

	private final ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start("initLimit=50");

	private final List<List<Network>> networks = Stream
		.generate(() -> this.ensemble.members().stream().map((member) -> Network.to(member.port())).toList())
		.limit(Crew.SIZE)
		.toList();

	private final LockNodes nodes = new LockNodes(this.ensemble.connectString());

	ZooKeeperEnsemble ensemble() {
		return this.ensemble;
	}

	@Override
	public ServerAddress address(int worker) {
		return new ServerAddress(Kind.ZOOKEEPER, this.networks.get(worker).stream().map(Network::address).toList());
	}

	@Override
	public List<Network> networks(int worker) {
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
		this.ensemble.members().forEach(ZooKeeperServer::kill);
	}

	@Override
	public void restart() {
		this.ensemble.members().forEach(ZooKeeperServer::restart);
		this.ensemble.awaitComplete();
	}

	@Override
	public void pause() {
		this.ensemble.members().forEach(ZooKeeperServer::pause);
	}

	@Override
	public void resume() {
		this.ensemble.members().forEach(ZooKeeperServer::resume);
		this.ensemble.awaitComplete();
	}

	@Override
	public void close() {
		this.nodes.close();
		this.networks.forEach((networks) -> networks.forEach(Network::close));
		this.ensemble.close();
	}

}
