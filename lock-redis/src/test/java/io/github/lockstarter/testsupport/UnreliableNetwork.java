// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

/**
 * A network between clients and a server. It can be cut for a while, hold one request
 * back, or lose the answer to one: the server carries the request out, and then the
 * connection ends.
 */
public final class UnreliableNetwork implements AutoCloseable {

	private final ServerSocket listener;

	private final int serverPort;

	private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

	private final AtomicReference<@Nullable String> losing = new AtomicReference<>();

	private final AtomicReference<@Nullable String> holding = new AtomicReference<>();

	private final AtomicInteger lost = new AtomicInteger();

	private final CountDownLatch held = new CountDownLatch(1);

	private final CountDownLatch letGo = new CountDownLatch(1);

	private volatile boolean disconnected;

	private volatile CountDownLatch cut = new CountDownLatch(0);

	private volatile CountDownLatch answersCut = new CountDownLatch(0);

	private UnreliableNetwork(ServerSocket listener, int serverPort) {
		this.listener = listener;
		this.serverPort = serverPort;
	}

	/**
	 * Listen on a free port.
	 * @param serverPort the port of the server
	 */
	public static UnreliableNetwork to(int serverPort) {
		try {
			UnreliableNetwork network = new UnreliableNetwork(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()),
					serverPort);
			start(network::accept);
			return network;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	public int port() {
		return this.listener.getLocalPort();
	}

	/**
	 * Lose the answer to the next request that contains a text.
	 */
	public void loseAnswerTo(String text) {
		this.losing.set(text);
	}

	/**
	 * Return how many answers were lost.
	 */
	public int lostAnswers() {
		return this.lost.get();
	}

	/**
	 * Hold back the next request that contains a text, once.
	 */
	public void holdBack(String text) {
		this.holding.set(text);
	}

	/**
	 * Wait until a request is held back.
	 */
	public void awaitHeld() throws InterruptedException {
		this.held.await();
	}

	/**
	 * Pass on the request that is held back.
	 */
	public void letGo() {
		this.letGo.countDown();
	}

	/**
	 * Pass on nothing until {@link #heal()}. What is sent in the meantime arrives late.
	 */
	public void cut() {
		this.cut = new CountDownLatch(1);
	}

	/**
	 * Pass on requests, but no answers until {@link #heal()}.
	 */
	public void cutAnswers() {
		this.answersCut = new CountDownLatch(1);
	}

	/**
	 * End each connection at its next request, and open none until {@link #heal()}.
	 */
	public void disconnect() {
		this.disconnected = true;
	}

	public void heal() {
		this.disconnected = false;
		this.cut.countDown();
		this.answersCut.countDown();
	}

	private void accept() {
		while (!this.listener.isClosed()) {
			try {
				connect(this.listener.accept());
			}
			catch (IOException ex) {
				// The server is down, or this network is closed
			}
		}
	}

	private void connect(Socket client) throws IOException {
		if (this.disconnected) {
			client.close();
			return;
		}
		Socket server = new Socket(InetAddress.getLoopbackAddress(), this.serverPort);
		Connection connection = new Connection();
		client.setTcpNoDelay(true);
		server.setTcpNoDelay(true);
		this.sockets.add(client);
		this.sockets.add(server);
		start(() -> pump(client, server, connection::request));
		start(() -> pump(server, client, connection::answer));
	}

	private void pump(Socket from, Socket to, Gate gate) {
		byte[] buffer = new byte[65536];
		try (from; to) {
			InputStream input = from.getInputStream();
			OutputStream output = to.getOutputStream();
			for (int length = input.read(buffer); length >= 0; length = input.read(buffer)) {
				if (!gate.passes(new String(buffer, 0, length, StandardCharsets.ISO_8859_1))) {
					return;
				}
				this.cut.await();
				output.write(buffer, 0, length);
			}
		}
		catch (IOException | InterruptedException ex) {
			// One side has closed the connection, so the other one must be closed as well
		}
	}

	private static void start(Runnable task) {
		Thread thread = new Thread(task, "network");
		thread.setDaemon(true);
		thread.start();
	}

	@Override
	public void close() throws IOException {
		letGo();
		heal();
		this.listener.close();
		for (Socket socket : this.sockets) {
			socket.close();
		}
	}

	private static boolean take(AtomicReference<@Nullable String> wanted, String bytes) {
		String text = wanted.get();
		return text != null && bytes.contains(text) && wanted.compareAndSet(text, null);
	}

	/**
	 * A gate that may stop bytes on their way.
	 */
	private interface Gate {

		boolean passes(String bytes) throws InterruptedException;

	}

	/**
	 * One connection of a client.
	 */
	private final class Connection {

		private volatile boolean losing;

		boolean request(String bytes) throws InterruptedException {
			if (UnreliableNetwork.this.disconnected) {
				return false;
			}
			this.losing |= take(UnreliableNetwork.this.losing, bytes);
			if (take(UnreliableNetwork.this.holding, bytes)) {
				UnreliableNetwork.this.held.countDown();
				UnreliableNetwork.this.letGo.await();
			}
			return true;
		}

		boolean answer(String bytes) throws InterruptedException {
			UnreliableNetwork.this.answersCut.await();
			if (this.losing) {
				UnreliableNetwork.this.lost.incrementAndGet();
			}
			return !this.losing;
		}

	}

}
