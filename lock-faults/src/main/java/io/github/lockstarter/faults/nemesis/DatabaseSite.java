// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.stream.Stream;

import io.github.lockstarter.faults.worker.ServerAddress;
import io.github.lockstarter.faults.worker.ServerAddress.Kind;

/**
 * A database server, and a network from each worker to it.
 */
final class DatabaseSite implements ServerSite {

	private final Kind kind;

	private final DatabaseServer server;

	private final List<TcpProxy> networks;

	DatabaseSite(Kind kind, DatabaseServer server) {
		this.kind = kind;
		this.server = server;
		this.networks = Stream.generate(() -> TcpProxy.to(server.port())).limit(Crew.SIZE).toList();
	}

	DatabaseServer server() {
		return this.server;
	}

	@Override
	public ServerAddress address(int worker) {
		return new ServerAddress(this.kind, List.of(this.server.url(this.networks.get(worker).port())));
	}

	@Override
	public List<TcpProxy> networks(int worker) {
		return List.of(this.networks.get(worker));
	}

	@Override
	public String database() {
		return this.server.url(this.server.port());
	}

	@Override
	public List<String> keys() {
		return this.server.locks();
	}

	@Override
	public void kill() {
		this.server.process().kill();
	}

	@Override
	public void restart() throws Exception {
		this.server.process().start();
		this.server.await();
	}

	@Override
	public void pause() throws Exception {
		this.server.process().pause();
	}

	@Override
	public void resume() throws Exception {
		this.server.process().resume();
	}

	@Override
	public void forget() {
		this.server.deleteRows();
	}

	@Override
	public void close() {
		this.networks.forEach(TcpProxy::close);
		try {
			this.server.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
