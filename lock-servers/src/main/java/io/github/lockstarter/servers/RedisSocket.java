// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The plain Redis protocol on a socket, as a client in any language speaks it.
 */
public final class RedisSocket implements AutoCloseable {

	private static final int LONGEST_ANSWER_MILLIS = 20_000;

	private final Socket socket;

	private final InputStream input;

	public RedisSocket(int port) {
		try {
			this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
			this.socket.setSoTimeout(LONGEST_ANSWER_MILLIS);
			this.input = new BufferedInputStream(this.socket.getInputStream());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Send a command.
	 * @return the answer as text; {@code (nil)} for none
	 */
	public String command(String... command) {
		StringBuilder request = new StringBuilder("*").append(command.length).append("\r\n");
		for (String argument : command) {
			int length = argument.getBytes(StandardCharsets.UTF_8).length;
			request.append('$').append(length).append("\r\n").append(argument).append("\r\n");
		}
		try {
			this.socket.getOutputStream().write(request.toString().getBytes(StandardCharsets.UTF_8));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return read();
	}

	/**
	 * Return the next answer or message.
	 */
	public String read() {
		try {
			String line = readLine();
			String rest = line.substring(1);
			return switch (line.charAt(0)) {
				case '+', ':' -> rest;
				case '$' -> readBulk(Integer.parseInt(rest));
				case '*' -> readArray(Integer.parseInt(rest));
				default -> throw new IllegalStateException(rest);
			};
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		try {
			this.socket.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private String readBulk(int length) throws IOException {
		if (length < 0) {
			return "(nil)";
		}
		byte[] bytes = this.input.readNBytes(length);
		readLine();
		return new String(bytes, StandardCharsets.UTF_8);
	}

	private String readArray(int length) {
		List<String> elements = new ArrayList<>();
		for (int i = 0; i < length; i++) {
			elements.add(read());
		}
		return String.join("\n", elements);
	}

	private String readLine() throws IOException {
		StringBuilder line = new StringBuilder();
		for (int c = this.input.read(); c != '\n'; c = this.input.read()) {
			if (c < 0) {
				throw new EOFException("The server closed the connection");
			}
			if (c != '\r') {
				line.append((char) c);
			}
		}
		return line.toString();
	}

}
