// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.util.List;

import io.github.lockstarter.faults.worker.ServerAddress;
import io.github.lockstarter.faults.worker.ServerAddress.Kind;
import io.github.lockstarter.servers.Network;
import io.github.lockstarter.servers.RedisServer;

/**
 * One server behind a network.
 */
final class SingleSite implements RedisSite {

	private final RedisServer server = RedisServer.start();

	private final Network network = Network.to(this.server.port());

	@Override
	public ServerAddress address(int worker) {
		return new ServerAddress(Kind.SINGLE, List.of(this.network.address()));
	}

	@Override
	public List<RedisServer> servers() {
		return List.of(this.server);
	}

	@Override
	public List<Network> networks(int worker) {
		return List.of(this.network);
	}

	@Override
	public void close() {
		this.network.close();
		this.server.close();
	}

}
