// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.time.Duration;
import java.util.List;

import io.github.lockstarter.faults.worker.RedisAddress;
import io.github.lockstarter.faults.worker.RedisAddress.Kind;
import io.github.lockstarter.testsupport.DistantRedis;
import io.github.lockstarter.testsupport.EmbeddedRedis;

/**
 * One server with a slow network to one of the workers.
 */
final class DistantSite implements Site {

	private static final Duration ROUND_TRIP = Duration.ofMillis(30);

	private final EmbeddedRedis server = EmbeddedRedis.start();

	private final DistantRedis way = DistantRedis.to(this.server.port(), ROUND_TRIP);

	@Override
	public RedisAddress address() {
		return at(this.server.port());
	}

	@Override
	public RedisAddress address(int worker) {
		return (worker == 0) ? at(this.way.port()) : address();
	}

	private static RedisAddress at(int port) {
		return new RedisAddress(Kind.SINGLE, List.of("127.0.0.1:" + port));
	}

	@Override
	public List<EmbeddedRedis> servers() {
		return List.of(this.server);
	}

	@Override
	public void close() {
		this.way.close();
		this.server.close();
	}

}
