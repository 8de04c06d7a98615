// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.util.List;

import io.github.lockstarter.faults.worker.ServerAddress;
import io.github.lockstarter.faults.worker.ServerAddress.Kind;
import io.github.lockstarter.servers.RedisServer;

/**
 * One server with a clock that can be set.
 */
final class ClockSite implements RedisSite {

	private final MovableClock clock = new MovableClock();

	private final RedisServer server = RedisServer.start(this.clock.redis(), this.clock.environment());

	MovableClock clock() {
		return this.clock;
	}

	@Override
	public ServerAddress address(int worker) {
		return new ServerAddress(Kind.SINGLE, List.of(this.server.address()));
	}

	@Override
	public List<RedisServer> servers() {
		return List.of(this.server);
	}

	@Override
	public void close() {
		this.server.close();
		this.clock.close();
	}

}
