// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.util.List;
import java.util.stream.Stream;

import io.github.lockstarter.faults.worker.ServerAddress;
import io.github.lockstarter.faults.worker.ServerAddress.Kind;
import io.github.lockstarter.servers.Network;
import io.github.lockstarter.servers.RedisServer;

/**
 * Three servers that know nothing of each other, and a network from each worker to each
 * server. The clock of the last server can be set.
 */
final class IndependentSite implements RedisSite {

	private final MovableClock clock = new MovableClock();

	private final List<RedisServer> servers = List.of(RedisServer.start(), RedisServer.start(),
			RedisServer.start(this.clock.redis(), this.clock.environment()));

	private final List<List<Network>> networks = Stream.generate(this::networks).limit(Crew.SIZE).toList();

	private List<Network> networks() {
		return this.servers.stream().map((server) -> Network.to(server.port())).toList();
	}

	@Override
	public ServerAddress address(int worker) {
		return new ServerAddress(Kind.INDEPENDENT, this.networks.get(worker).stream().map(Network::address).toList());
	}

	/** Each request goes to all servers. */
	@Override
	public long scripts() {
		return RedisSite.super.scripts() / servers().size();
	}

	@Override
	public List<RedisServer> servers() {
		return this.servers;
	}

	@Override
	public List<Network> networks(int worker) {
		return this.networks.get(worker);
	}

	MovableClock clock() {
		return this.clock;
	}

	/**
	 * Return the network from a worker to a server.
	 */
	Network network(int worker, int server) {
		return this.networks.get(worker).get(server);
	}

	@Override
	public void close() {
		this.networks.forEach((networks) -> networks.forEach(Network::close));
		this.servers.forEach(RedisServer::close);
		this.clock.close();
	}

}
