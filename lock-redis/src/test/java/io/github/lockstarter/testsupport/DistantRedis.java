// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * The network path to a distant server: in both directions, each byte arrives half a
 * round trip later, however many are under way.
 */
public final class DistantRedis implements AutoCloseable {

	private final int port;

	private final long delay;

	private final ServerSocket listener;

	private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

	private final ScheduledExecutorService deliveries = Executors.newSingleThreadScheduledExecutor((task) -> {
		Thread thread = new Thread(task, "distance");
		thread.setDaemon(true);
		return thread;
	});

	private DistantRedis(int port, Duration roundTrip, ServerSocket listener) {
		this.port = port;
		this.delay = roundTrip.toNanos() / 2;
		this.listener = listener;
	}

	/**
	 * Open a path to a server.
	 * @param port the port of the server
	 * @param roundTrip the travel time of a request and its answer
	 */
	public static DistantRedis to(int port, Duration roundTrip) {
		try {
			DistantRedis way = new DistantRedis(port, roundTrip,
					new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
			start(way::accept);
			return way;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	public int port() {
		return this.listener.getLocalPort();
	}

	private void accept() {
		while (!this.listener.isClosed()) {
			try {
				Socket client = this.listener.accept();
				Socket server = new Socket(InetAddress.getLoopbackAddress(), this.port);
				for (Socket socket : new Socket[] { client, server }) {
					socket.setTcpNoDelay(true);
					this.sockets.add(socket);
				}
				start(() -> carry(client, server));
				start(() -> carry(server, client));
			}
			catch (IOException ex) {
				// The server is down, or this path is closed
			}
		}
	}

	private void carry(Socket from, Socket to) {
		byte[] buffer = new byte[65536];
		try {
			InputStream input = from.getInputStream();
			OutputStream output = to.getOutputStream();
			for (int length = input.read(buffer); length >= 0; length = input.read(buffer)) {
				byte[] parcel = Arrays.copyOf(buffer, length);
				this.deliveries.schedule(() -> deliver(parcel, output, to), this.delay, TimeUnit.NANOSECONDS);
			}
		}
		catch (IOException | RejectedExecutionException ex) {
			// One side has closed the connection, or this path is closed
		}
		end(to);
	}

	private void deliver(byte[] parcel, OutputStream output, Socket to) {
		try {
			output.write(parcel);
		}
		catch (IOException ex) {
			end(to);
		}
	}

	private void end(Socket socket) {
		this.sockets.remove(socket);
		try {
			socket.close();
		}
		catch (IOException ex) {
			// The socket is no longer needed
		}
	}

	private static void start(Runnable task) {
		Thread thread = new Thread(task, "distance");
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
		this.sockets.forEach(this::end);
		this.deliveries.shutdown();
	}

}
