// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.ZooKeeper.States;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.store.UnusableStoreException;

/**
 * Sends the requests of one session, and knows how long the session lasts.
 */
final class SessionChannel {

	private final ZooKeeper handle;

	private final BooleanSupplier connected;

	private final LongSupplier nanoTime;

	private final Contact contact = new Contact();

	/**
	 * Create the channel of a session.
	 * @param connected whether the client is connected; the handle itself says so until
	 * it begins to connect again, and keeps requests until then
	 * @param since when there was no connection yet
	 * @param nanoTime the clock of this JVM
	 */
	SessionChannel(ZooKeeper handle, BooleanSupplier connected, long since, LongSupplier nanoTime) {
		this.handle = handle;
		this.connected = connected;
		this.nanoTime = nanoTime;
		connected(since);
	}

	/**
	 * Note that the leader has confirmed the session.
	 * @param since when there was no connection yet
	 */
	void connected(long since) {
		this.contact.begin(since);
	}

	/**
	 * Note a request that was just answered.
	 */
	void heard(long sentAt) {
		this.contact.heard(sentAt, this.nanoTime.getAsLong(), sessionTimeoutNanos());
	}

	ZooKeeper handle() {
		return this.handle;
	}

	boolean isOf(ZooKeeper handle) {
		return this.handle == handle;
	}

	/**
	 * Return whether the session has ended, and with it all its nodes.
	 */
	boolean isOver() {
		return !this.handle.getState().isAlive();
	}

	/**
	 * Return the session time-out that the server has granted, in milliseconds.
	 */
	int sessionTimeout() {
		return this.handle.getSessionTimeout();
	}

	private long sessionTimeoutNanos() {
		return TimeUnit.MILLISECONDS.toNanos(sessionTimeout());
	}

	/**
	 * Send a write after whose answer the session lasts for some time.
	 */
	<T> CompletableFuture<T> confirm(String path, Consumer<Answer<T>> request) {
		if (!this.contact.isSure(this.nanoTime.getAsLong(), sessionTimeoutNanos())) {
			return CompletableFuture
				.failedFuture(new IOException("ZooKeeper may not have heard of this session for too long"));
		}
		return send(path, request);
	}

	/**
	 * Send a request, unless there is no connection.
	 */
	<T> CompletableFuture<T> send(String path, Consumer<Answer<T>> request) {
		Answer<T> answer = new Answer<>(path);
		States state = this.handle.getState();
		if (!state.isConnected() || !this.connected.getAsBoolean()) {
			Code code = state.isAlive() ? Code.CONNECTIONLOSS : Code.SESSIONEXPIRED;
			answer.completeExceptionally(KeeperException.create(code, path));
			return answer;
		}
		try {
			request.accept(answer);
		}
		catch (RuntimeException ex) {
			answer.completeExceptionally(ex);
		}
		return answer;
	}

	private static Exception failure(int rc, String path) {
		KeeperException ex;
		try {
			ex = KeeperException.create(Code.get(rc), path);
		}
		catch (IllegalArgumentException unknown) {
			// A newer server may have further codes
			return new IOException("ZooKeeper has answered a request for " + path + " with the code " + rc, unknown);
		}
		return switch (ex.code()) {
			case NOAUTH -> new UnusableStoreException("The user of this ZooKeeper session may not use '" + path
					+ "': it needs the rights to create, delete, read and write nodes there. A session from a connect"
					+ " string has no user; for one with credentials, use a CuratorFramework", ex);
			case AUTHFAILED ->
				new UnusableStoreException("ZooKeeper has refused the credentials of the CuratorFramework", ex);
			case INVALIDACL -> new UnusableStoreException("ZooKeeper has refused the access control list for '" + path
					+ "': the ACLProvider of the CuratorFramework has to name a user, or the session needs credentials",
					ex);
			default -> ex;
		};
	}

	/**
	 * The answer to a request.
	 */
	static final class Answer<T> extends CompletableFuture<T> {

		private final String path;

		private Answer(String path) {
			this.path = path;
		}

		/**
		 * Answer the request.
		 * @param rc the code that ZooKeeper has given
		 * @param result the result, if there is one
		 */
		@SuppressWarnings("NullAway") // a request that has succeeded has a result
		void settle(int rc, @Nullable T result) {
			if (rc == Code.OK.intValue()) {
				complete(result);
			}
			else {
				completeExceptionally(failure(rc, this.path));
			}
		}

	}

}
