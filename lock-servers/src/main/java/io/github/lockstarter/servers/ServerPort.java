// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers. They are below those that systems assign to clients, so that no
 * client occupies the port of a server that is about to start.
 */
public final class ServerPort {

	private static final int LOWEST = 10_000;

	private static final int HIGHEST = 32_767;

	private ServerPort() {
	}

	/**
	 * Return a port of the loopback address that is free.
	 */
	public static int find() {
		int port = random();
		while (!isFree(port)) {
			port = random();
		}
		return port;
	}

	private static int random() {
		return ThreadLocalRandom.current().nextInt(LOWEST, HIGHEST + 1);
	}

	/**
	 * Return whether a server may take a port.
	 */
	public static boolean isFree(int port) {
		if (port > HIGHEST) {
			return false;
		}
		try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
			return true;
		}
		catch (IOException ex) {
			return false;
		}
	}

}
