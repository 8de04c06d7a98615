// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * The network between clients and a server. It can be slow, be cut in one direction or in
 * both, hold one request back, lose answers, and end connections.
 */
public final class Network implements AutoCloseable {

	private final ServerSocket listener;

	private final boolean patient;

	private volatile int serverPort;

	private final Set<Connection> connections = ConcurrentHashMap.newKeySet();

	private long delay;

	private boolean requestsCut;

	private boolean answersCut;

	private boolean answersLost;

	private boolean disconnected;

	private @Nullable String losing;

	private int lost;

	private @Nullable String holding;

	private boolean held;

	private boolean letGo;

	private Network(ServerSocket listener, int serverPort, boolean patient) {
		this.listener = listener;
		this.serverPort = serverPort;
		this.patient = patient;
	}

	/**
	 * Listen on a free port.
	 * @param serverPort the port of the server
	 */
	public static Network to(int serverPort) {
		return to(serverPort, false);
	}

	/**
	 * Listen on a free port, and let clients wait while the server does not listen.
	 */
	static Network toLater(int serverPort) {
		return to(serverPort, true);
	}

	private static Network to(int serverPort, boolean patient) {
		try {
			Network network = new Network(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), serverPort,
					patient);
			start(network::accept);
			return network;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Listen on a free port, and deliver each byte half a round trip later in both
	 * directions, however many are under way.
	 */
	public static Network to(int serverPort, Duration roundTrip) {
		Network network = to(serverPort);
		network.delay(roundTrip);
		return network;
	}

	public int port() {
		return this.listener.getLocalPort();
	}

	public String address() {
		return "127.0.0.1:" + port();
	}

	/**
	 * Lead new connections to another server. Those that are open stay with theirs.
	 */
	public void moveTo(int serverPort) {
		this.serverPort = serverPort;
	}

	/**
	 * Change the travel time of a request and its answer.
	 */
	public synchronized void delay(Duration roundTrip) {
		this.delay = roundTrip.toNanos() / 2;
	}

	/**
	 * Pass on nothing until {@link #heal()}. What is sent in the meantime arrives late.
	 */
	public synchronized void cut() {
		this.requestsCut = true;
		this.answersCut = true;
	}

	/**
	 * Pass on requests, but no answers until {@link #heal()}.
	 */
	public synchronized void cutAnswers() {
		this.answersCut = true;
	}

	/**
	 * Pass on requests, but end each connection at its next answer until {@link #heal()}.
	 */
	public synchronized void loseAnswers() {
		this.answersLost = true;
	}

	/**
	 * End each connection at its next request, and open none until {@link #heal()}.
	 */
	public synchronized void disconnect() {
		this.disconnected = true;
	}

	/**
	 * End all connections, with all that is under way.
	 */
	public void reset() {
		this.connections.forEach(Connection::close);
	}

	/**
	 * Pass on everything, also what was held back by a cut.
	 */
	public synchronized void heal() {
		this.requestsCut = false;
		this.answersCut = false;
		this.answersLost = false;
		this.disconnected = false;
		notifyAll();
	}

	/**
	 * Pass on everything, but on new connections.
	 */
	public void healWithReset() {
		reset();
		heal();
	}

	/**
	 * Lose the answer to the next request that contains a text: the server carries the
	 * request out, and then the connection ends.
	 */
	public synchronized void loseAnswerTo(String text) {
		this.losing = text;
	}

	/**
	 * Return how many answers were lost.
	 */
	public synchronized int lostAnswers() {
		return this.lost;
	}

	/**
	 * Hold back the next request that contains a text, once.
	 */
	public synchronized void holdBack(String text) {
		this.holding = text;
	}

	/**
	 * Wait until a request is held back.
	 */
	public synchronized void awaitHeld() throws InterruptedException {
		while (!this.held) {
			wait();
		}
	}

	/**
	 * Pass on the request that is held back.
	 */
	public synchronized void letGo() {
		this.letGo = true;
		notifyAll();
	}

	private void accept() {
		while (!this.listener.isClosed()) {
			try {
				Connection connection = new Connection(this.listener.accept());
				this.connections.add(connection);
				start(connection::open);
			}
			catch (IOException ex) {
				// This network is closed
			}
		}
	}

	private static void start(Runnable task) {
		Thread thread = new Thread(task, "network");
		thread.setDaemon(true);
		thread.start();
	}

	@Override
	public void close() {
		try {
			this.listener.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		reset();
		letGo();
		heal();
	}

	/**
	 * Bytes under way.
	 *
	 * @param due when they arrive
	 */
	private record Parcel(byte[] bytes, long due) {
	}

	/**
	 * One connection of a client.
	 */
	private final class Connection {

		private final Socket client;

		private volatile Socket server = new Socket();

		private boolean losing;

		private Connection(Socket client) {
			this.client = client;
		}

		void open() {
			try {
				if (mayOpen()) {
					connect();
					this.client.setTcpNoDelay(true);
					this.server.setTcpNoDelay(true);
					carry(this.client, this.server, this::passRequest);
					carry(this.server, this.client, this::passAnswer);
					return;
				}
			}
			catch (IOException | InterruptedException ex) {
				// The server is down, or the client has gone
			}
			close();
		}

		private void connect() throws IOException, InterruptedException {
			while (!this.client.isClosed()) {
				try {
					this.server
						.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), Network.this.serverPort));
					return;
				}
				catch (ConnectException ex) {
					if (!Network.this.patient) {
						throw ex;
					}
					this.server = new Socket();
					TimeUnit.MILLISECONDS.sleep(10);
				}
			}
		}

		private boolean mayOpen() throws InterruptedException {
			synchronized (Network.this) {
				awaitWhole(false);
				return !Network.this.disconnected;
			}
		}

		private void carry(Socket from, Socket to, Gate gate) {
			BlockingQueue<Parcel> way = new LinkedBlockingQueue<>();
			start(() -> receive(from, way));
			start(() -> deliver(way, to, gate));
		}

		private void receive(Socket from, BlockingQueue<Parcel> way) {
			byte[] buffer = new byte[65536];
			int length;
			do {
				try {
					length = from.getInputStream().read(buffer);
				}
				catch (IOException ex) {
					length = -1;
				}
				synchronized (Network.this) {
					way.add(new Parcel(Arrays.copyOf(buffer, Math.max(length, 0)),
							System.nanoTime() + Network.this.delay));
				}
			}
			while (length >= 0);
		}

		private void deliver(BlockingQueue<Parcel> way, Socket to, Gate gate) {
			try {
				for (Parcel parcel = way.take(); parcel.bytes.length > 0; parcel = way.take()) {
					TimeUnit.NANOSECONDS.sleep(parcel.due - System.nanoTime());
					if (!gate.passes(new String(parcel.bytes, StandardCharsets.ISO_8859_1))) {
						break;
					}
					to.getOutputStream().write(parcel.bytes);
				}
			}
			catch (IOException | InterruptedException ex) {
				// One side has closed the connection, so the other one must be closed as
				// well
			}
			close();
		}

		private boolean passRequest(String bytes) throws InterruptedException {
			synchronized (Network.this) {
				if (Network.this.disconnected) {
					return false;
				}
				if (Network.this.losing != null && bytes.contains(Network.this.losing)) {
					Network.this.losing = null;
					this.losing = true;
				}
				if (Network.this.holding != null && bytes.contains(Network.this.holding)) {
					Network.this.holding = null;
					Network.this.held = true;
					Network.this.notifyAll();
					while (!Network.this.letGo) {
						Network.this.wait();
					}
				}
				awaitWhole(false);
				return true;
			}
		}

		private boolean passAnswer(String bytes) throws InterruptedException {
			synchronized (Network.this) {
				awaitWhole(true);
				if (this.losing) {
					Network.this.lost++;
				}
				return !this.losing && !Network.this.answersLost;
			}
		}

		private void awaitWhole(boolean answers) throws InterruptedException {
			while (answers ? Network.this.answersCut : Network.this.requestsCut) {
				Network.this.wait();
			}
		}

		void close() {
			Network.this.connections.remove(this);
			for (Socket socket : new Socket[] { this.client, this.server }) {
				try {
					socket.close();
				}
				catch (IOException ex) {
					// It is of no use any more
				}
			}
		}

	}

	/**
	 * A gate that may stop bytes on their way.
	 */
	private interface Gate {

		boolean passes(String bytes) throws InterruptedException;

	}

}
