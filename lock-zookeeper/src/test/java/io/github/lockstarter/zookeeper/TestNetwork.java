// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The network between clients and one server, which can be cut without a word.
 */
final class TestNetwork implements AutoCloseable {

	private final int port;

	private final ServerSocket listener;

	private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

	private volatile boolean requestsLost;

	private volatile boolean answersLost;

	private TestNetwork(int port, ServerSocket listener) {
		this.port = port;
		this.listener = listener;
	}

	static TestNetwork to(int port) throws IOException {
		TestNetwork network = new TestNetwork(port, new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
		start(network::accept);
		return network;
	}

	String address() {
		return "127.0.0.1:" + port();
	}

	int port() {
		return this.listener.getLocalPort();
	}

	/**
	 * Forward nothing from now on.
	 */
	void cut() {
		this.requestsLost = true;
		this.answersLost = true;
	}

	/**
	 * Forward requests, but no answers.
	 */
	void loseAnswers() {
		this.answersLost = true;
	}

	/**
	 * Forward everything again, on new connections.
	 */
	void heal() {
		this.requestsLost = false;
		this.answersLost = false;
		this.sockets.forEach(TestNetwork::close);
	}

	private void accept() {
		while (!this.listener.isClosed()) {
			try {
				connect(this.listener.accept());
			}
			catch (IOException ex) {
				// This network is down
			}
		}
	}

	private void connect(Socket client) {
		this.sockets.add(client);
		if (this.requestsLost) {
			// Nobody answers
			return;
		}
		try {
			Socket server = new Socket(InetAddress.getLoopbackAddress(), this.port);
			client.setTcpNoDelay(true);
			server.setTcpNoDelay(true);
			this.sockets.add(server);
			start(() -> forward(client, server, false));
			start(() -> forward(server, client, true));
		}
		catch (IOException ex) {
			// The server is down
			close(client);
		}
	}

	private void forward(Socket from, Socket to, boolean answers) {
		try (from; to) {
			InputStream input = from.getInputStream();
			OutputStream output = to.getOutputStream();
			byte[] bytes = new byte[8192];
			boolean lost = false;
			for (int read = input.read(bytes); read >= 0; read = input.read(bytes)) {
				// Nothing makes sense after something was lost
				lost |= answers ? this.answersLost : this.requestsLost;
				if (!lost) {
					output.write(bytes, 0, read);
				}
			}
		}
		catch (IOException ex) {
			// The connection is closed
		}
		this.sockets.remove(from);
		this.sockets.remove(to);
	}

	private static void start(Runnable task) {
		Thread thread = new Thread(task, "test-network");
		thread.setDaemon(true);
		thread.start();
	}

	private static void close(Socket socket) {
		try {
			socket.close();
		}
		catch (IOException ex) {
			// It is closed
		}
	}

	@Override
	public void close() throws IOException {
		this.listener.close();
		this.sockets.forEach(TestNetwork::close);
	}

}
