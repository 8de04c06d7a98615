// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers. They are below those that systems assign to clients, so that no
 * client occupies the port of a server that is about to start.
 */
final class ServerPort {

	private static final int LOWEST = 10_000;

	private static final int HIGHEST = 32_767;

	private ServerPort() {
	}

	/**
	 * Return a port of the loopback address that is free.
	 */
	static int find() {
		while (true) {
			int port = ThreadLocalRandom.current().nextInt(LOWEST, HIGHEST + 1);
			try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
				return socket.getLocalPort();
			}
			catch (IOException ex) {
				// It is in use
			}
		}
	}

}
