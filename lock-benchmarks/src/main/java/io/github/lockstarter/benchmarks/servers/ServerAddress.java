// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.servers;

import java.util.Arrays;

/**
 * Where a client finds the server that keeps its locks.
 *
 * @param kind the kind of server
 * @param location a port, ports separated by commas, a JDBC URL or the connect string of
 * ZooKeeper, depending on the kind
 */
public record ServerAddress(ServerKind kind, String location) {

	/**
	 * Return the address in a text.
	 * @param text the result of {@link #toString()} in another JVM
	 */
	public static ServerAddress parse(String text) {
		String[] parts = text.split("=", 2);
		return new ServerAddress(ServerKind.valueOf(parts[0]), parts[1]);
	}

	/**
	 * Return the port of the only Redis server.
	 */
	public int port() {
		return Integer.parseInt(this.location);
	}

	/**
	 * Return the ports of several Redis servers.
	 */
	public int[] ports() {
		return Arrays.stream(this.location.split(",")).mapToInt(Integer::parseInt).toArray();
	}

	@Override
	public String toString() {
		return this.kind.name() + "=" + this.location;
	}

}
