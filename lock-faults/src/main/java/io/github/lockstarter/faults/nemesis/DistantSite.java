// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.time.Duration;
import java.util.List;

import io.github.lockstarter.faults.worker.ServerAddress;
import io.github.lockstarter.faults.worker.ServerAddress.Kind;
import io.github.lockstarter.servers.Network;
import io.github.lockstarter.servers.RedisServer;

/**
 * One server with a slow network to one of the workers.
 */
final class DistantSite implements RedisSite {

	private static final Duration ROUND_TRIP = Duration.ofMillis(30);

	private final RedisServer server = RedisServer.start();

	private final Network way = Network.to(this.server.port(), ROUND_TRIP);

	@Override
	public ServerAddress address(int worker) {
		return new ServerAddress(Kind.SINGLE, List.of((worker == 0) ? this.way.address() : this.server.address()));
	}

	@Override
	public List<RedisServer> servers() {
		return List.of(this.server);
	}

	@Override
	public void close() {
		this.way.close();
		this.server.close();
	}

}
