// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.WaitingLine;

/**
 * The sessions of a client, one after another.
 */
final class Sessions implements ConnectionStateListener {

	private static final Log logger = LogFactory.getLog(Sessions.class);

	/** How often to check for the first connection, in milliseconds. */
	private static final int UNKNOWN_TIMEOUT = 1000;

	private static final long LONGEST_CONNECT_MILLIS = 10_000;

	private final CuratorFramework client;

	private final LockPaths paths;

	private final NodeAcls acls;

	private final Duration reservation;

	private final CompletableFuture<LockSession> connected = new CompletableFuture<>();

	private volatile @Nullable LockSession session;

	private volatile WaitingLine.@Nullable Listener listener;

	private volatile @Nullable Runnable interrupted;

	private volatile boolean closed;

	private volatile long checkedAt = System.nanoTime();

	private volatile long disconnectedAt = this.checkedAt;

	private volatile Duration longestLease = LockStore.LONGEST_LEASE;

	Sessions(CuratorFramework client, String root, Duration reservation) {
		this.client = client;
		this.paths = new LockPaths(client.getNamespace(), root);
		this.acls = new NodeAcls(client);
		this.reservation = reservation;
		client.getConnectionStateListenable().addListener(this);
		if (isConnected()) {
			stateChanged(client, ConnectionState.CONNECTED);
		}
		keepContact();
	}

	/**
	 * Return the first connection, which fails if the client does not connect in time.
	 * The first requests wait for it, so that is no longer than
	 * {@value #LONGEST_CONNECT_MILLIS} ms.
	 * @see LockSession#requireTop()
	 */
	CompletableFuture<?> connected() {
		long timeout = Math.min(this.client.getZookeeperClient().getConnectionTimeoutMs(), LONGEST_CONNECT_MILLIS);
		CompletableFuture<Object> connected = new CompletableFuture<>();
		this.connected.thenCompose(LockSession::requireTop)
			.orTimeout(timeout, TimeUnit.MILLISECONDS)
			.whenComplete((result, ex) -> {
				if (ex instanceof TimeoutException) {
					connected.completeExceptionally(new IllegalStateException("No session within " + timeout + " ms"));
				}
				else if (ex != null) {
					connected.completeExceptionally((ex.getCause() != null) ? ex.getCause() : ex);
				}
				else {
					connected.complete(true);
				}
			});
		return connected;
	}

	/**
	 * Return the current session, or the last one while there is no connection. Does not
	 * block.
	 * @throws Exception if there has been no connection yet
	 */
	LockSession current() throws Exception {
		LockSession session = this.session;
		if (isConnected()) {
			ZooKeeper handle = this.client.getZookeeperClient().getZooKeeper();
			int timeout = handle.getSessionTimeout();
			// Curator learns later of the end of a session, which then has no time-out
			if (timeout > 0) {
				session = (session != null && session.requests().channel().isOf(handle)) ? session : begin(handle);
				limit(timeout);
			}
		}
		if (session == null) {
			throw new KeeperException.ConnectionLossException();
		}
		return session;
	}

	/**
	 * Return the last session, or {@code null}.
	 */
	@Nullable LockSession last() {
		return this.session;
	}

	private boolean isConnected() {
		return this.client.getZookeeperClient().isConnected();
	}

	private synchronized LockSession begin(ZooKeeper handle) {
		LockSession before = this.session;
		if (before != null && before.requests().channel().isOf(handle)) {
			return before;
		}
		if (before != null && !before.lines().isEmpty()) {
			logger.info("The session of ZooKeeper has ended, and with it all locks that this instance held in it");
		}
		LockSession session = new LockSession(
				new ZooKeeperRequests(
						new SessionChannel(handle, this::isConnected, this.disconnectedAt, System::nanoTime)),
				this.paths, this.acls, this::onTurn, this.reservation);
		this.session = session;
		this.connected.complete(session);
		return session;
	}

	/** Without requests, nobody knows whether the ensemble has heard of the session. */
	private void keepContact() {
		if (this.closed) {
			return;
		}
		if (!isConnected()) {
			disconnected();
		}
		this.checkedAt = System.nanoTime();
		LockSession session = this.session;
		if (session != null) {
			session.keepContact();
		}
		int timeout = (session != null) ? session.requests().channel().sessionTimeout() : 0;
		Alarms.after((timeout > 0) ? timeout / 12 : UNKNOWN_TIMEOUT / 12, TimeUnit.MILLISECONDS)
			.thenRun(this::keepContact);
	}

	/** This JVM may have paused since the last check, and is told of connections late. */
	private void disconnected() {
		this.disconnectedAt = this.checkedAt;
	}

	/** A session may get another time-out when it connects to another member. */
	private void limit(int sessionTimeout) {
		Duration longest = Duration.ofMillis(sessionTimeout * 2L / 5);
		if (longest.compareTo(this.longestLease) < 0) {
			synchronized (this) {
				this.longestLease = (longest.compareTo(this.longestLease) < 0) ? longest : this.longestLease;
			}
		}
	}

	Duration longestLease() {
		return this.longestLease;
	}

	private void onTurn(LockKey key) {
		WaitingLine.Listener listener = this.listener;
		if (listener != null) {
			listener.onRelease(key);
		}
	}

	/**
	 * Return whether messages reach the listener.
	 */
	boolean listen(WaitingLine.Listener listener) {
		this.listener = listener;
		return isConnected();
	}

	void onInterruption(Runnable task) {
		this.interrupted = task;
	}

	@Override
	public void stateChanged(CuratorFramework client, ConnectionState state) {
		if (!state.isConnected()) {
			disconnected();
			Runnable task = this.interrupted;
			if (task != null) {
				task.run();
			}
			return;
		}
		try {
			LockSession session = current();
			session.requests().channel().connected(this.disconnectedAt);
			session.review();
		}
		catch (Exception ex) {
			logger.debug("The session of ZooKeeper is not connected yet", ex);
		}
		WaitingLine.Listener listener = this.listener;
		if (listener != null) {
			listener.onDoubt();
		}
	}

	void close() {
		this.closed = true;
		this.client.getConnectionStateListenable().removeListener(this);
	}

}
