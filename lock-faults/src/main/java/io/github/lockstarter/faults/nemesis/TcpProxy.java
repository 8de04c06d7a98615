// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A network between clients and a server. It can be slow, lose replies, or forward
 * nothing.
 */
public final class TcpProxy implements AutoCloseable {

	private static final long LOOK_AGAIN = TimeUnit.MILLISECONDS.toNanos(5);

	private final int port;

	private final ServerSocket listener;

	private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

	private volatile Weather weather = Weather.FINE;

	private TcpProxy(int port, ServerSocket listener) {
		this.port = port;
		this.listener = listener;
	}

	/**
	 * Listen on a free port.
	 * @param port of the server
	 */
	static TcpProxy to(int port) {
		try {
			TcpProxy proxy = new TcpProxy(port, new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
			start("proxy", proxy::accept);
			return proxy;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	int port() {
		return this.listener.getLocalPort();
	}

	/**
	 * Change what happens to requests and replies from now on.
	 */
	void setWeather(Weather weather) {
		this.weather = weather;
	}

	/**
	 * Close all connections.
	 */
	void cut() {
		this.sockets.forEach(TcpProxy::close);
	}

	private void accept() {
		while (!this.listener.isClosed()) {
			try {
				connect(this.listener.accept());
			}
			catch (IOException ex) {
				// The server is down, or this proxy is closed
			}
		}
	}

	private void connect(Socket client) throws IOException {
		this.sockets.add(client);
		Socket server = new Socket();
		try {
			server.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), this.port));
			client.setTcpNoDelay(true);
			server.setTcpNoDelay(true);
		}
		catch (IOException ex) {
			end(client, server);
			throw ex;
		}
		this.sockets.add(server);
		start("requests", () -> pump(client, server, false));
		start("answers", () -> pump(server, client, true));
	}

	private void pump(Socket from, Socket to, boolean answers) {
		byte[] buffer = new byte[8192];
		try (from; to) {
			InputStream input = from.getInputStream();
			OutputStream output = to.getOutputStream();
			for (int length = input.read(buffer); length >= 0; length = input.read(buffer)) {
				if (this.weather == Weather.CUT && answers) {
					break;
				}
				if (answers) {
					LockSupport.parkNanos(this.weather.delay);
				}
				while (holdsBack(answers) && !this.listener.isClosed()) {
					LockSupport.parkNanos(LOOK_AGAIN);
				}
				output.write(buffer, 0, length);
			}
		}
		catch (IOException ex) {
			// One side has closed the connection, so the other side must close as well
		}
		finally {
			end(from, to);
		}
	}

	private boolean holdsBack(boolean answers) {
		return this.weather == Weather.BLACK_HOLE || (this.weather == Weather.ONE_WAY && answers);
	}

	private void end(Socket a, Socket b) {
		close(a);
		close(b);
		this.sockets.remove(a);
		this.sockets.remove(b);
	}

	private static void close(Socket socket) {
		try {
			socket.close();
		}
		catch (IOException ex) {
			// It is of no use any more
		}
	}

	private static void start(String name, Runnable task) {
		Thread thread = new Thread(task, name);
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
		cut();
	}

	/**
	 * The treatment of requests and replies.
	 */
	enum Weather {

		/** They are forwarded. */
		FINE(0),

		/** Replies are delayed by 30 ms, one after the other. */
		FAR(30),

		/** The same, by 400 ms. */
		SLOW(400),

		/** The request arrives, and then the connection closes without a reply. */
		CUT(0),

		/** Requests arrive, but no reply does until the weather changes. */
		ONE_WAY(0),

		/** Nothing arrives in either direction until the weather changes. */
		BLACK_HOLE(0);

		private final long delay;

		Weather(long millis) {
			this.delay = TimeUnit.MILLISECONDS.toNanos(millis);
		}

	}

}
