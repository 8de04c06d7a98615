// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.util.List;

import io.github.lockstarter.faults.worker.RedisAddress;
import io.github.lockstarter.faults.worker.RedisAddress.Kind;
import io.github.lockstarter.testsupport.EmbeddedRedis;

/**
 * One server behind a network.
 */
final class SingleSite implements Site {

	private final EmbeddedRedis server = EmbeddedRedis.start();

	private final TcpProxy network = TcpProxy.to(this.server.port());

	@Override
	public RedisAddress address() {
		return new RedisAddress(Kind.SINGLE, List.of("127.0.0.1:" + this.network.port()));
	}

	@Override
	public List<EmbeddedRedis> servers() {
		return List.of(this.server);
	}

	@Override
	public TcpProxy network() {
		return this.network;
	}

	@Override
	public void close() {
		this.network.close();
		this.server.close();
	}

}
