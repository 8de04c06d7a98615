// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * A Redis command in its inline form, for the few questions that arise before there is a
 * client.
 */
record InlineCommand(String text) {

	private static final int TIMEOUT_MILLIS = 5000;

	/**
	 * Return the reply, or an empty text if there is none.
	 */
	String send(int port) {
		try (Socket socket = new Socket()) {
			socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TIMEOUT_MILLIS);
			socket.setSoTimeout(TIMEOUT_MILLIS);
			socket.getOutputStream().write((this.text + "\r\nQUIT\r\n").getBytes(StandardCharsets.US_ASCII));
			return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			return "";
		}
	}

}
