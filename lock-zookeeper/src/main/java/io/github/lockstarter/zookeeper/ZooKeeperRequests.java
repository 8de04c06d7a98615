// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.CreateResult;
import org.apache.zookeeper.OpResult.SetDataResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Requests of one session. The server carries them out in the order of the calls. None
 * blocks; while there is no connection, each fails at once.
 */
final class ZooKeeperRequests {

	private static final int ANY_VERSION = -1;

	private static final byte[] NO_CONTENT = new byte[0];

	private final ZooKeeper handle;

	private final SessionChannel channel;

	ZooKeeperRequests(SessionChannel channel) {
		this.handle = channel.handle();
		this.channel = channel;
	}

	SessionChannel channel() {
		return this.channel;
	}

	CompletableFuture<Created> create(String path, byte[] data, List<ACL> acl, CreateMode mode) {
		return this.channel.confirm(path, (answer) -> this.handle.create(path, data, acl, mode, (rc, asked, context,
				name, stat) -> answer.settle(rc, (rc == Code.OK.intValue()) ? new Created(name, stat) : null), null));
	}

	CompletableFuture<LineView> list(String path) {
		return this.channel
			.send(path,
					(answer) -> this.handle
						.getChildren(path, false,
								(rc, asked, context, children, stat) -> answer.settle(rc,
										(rc == Code.OK.intValue()) ? LineView.of(children, stat.getPzxid()) : null),
								null));
	}

	/**
	 * Read the content of a node.
	 * @param watcher called once when the node changes or is deleted, or {@code null}. If
	 * the node does not exist, nothing is watched
	 */
	CompletableFuture<Content> read(String path, @Nullable Watcher watcher) {
		return this.channel
			.send(path,
					(answer) -> this.handle
						.getData(path, watcher,
								(rc, asked, context, bytes, stat) -> answer.settle(rc,
										(rc == Code.OK.intValue()) ? new Content(bytes, stat.getVersion()) : null),
								null));
	}

	CompletableFuture<Stat> write(String path, byte[] data) {
		return this.channel.confirm(path, (answer) -> this.handle.setData(path, data, ANY_VERSION,
				(rc, asked, context, stat) -> answer.settle(rc, stat), null));
	}

	CompletableFuture<Stat> look(String path) {
		return this.channel.send(path, (answer) -> this.handle.exists(path, false,
				(rc, asked, context, stat) -> answer.settle(rc, stat), null));
	}

	/**
	 * Delete a node.
	 * @return whether it existed
	 */
	CompletableFuture<Boolean> delete(String path) {
		return delete(path, ANY_VERSION);
	}

	CompletableFuture<Boolean> delete(String path, int version) {
		return this.channel.send(path, (answer) -> this.handle.delete(path, version, (rc, asked, context) -> {
			boolean absent = rc == Code.NONODE.intValue();
			answer.settle(absent ? Code.OK.intValue() : rc, !absent);
		}, null));
	}

	/**
	 * Create a node in the line of a lock. The lock is written as well, because the
	 * answer to a write tells how many nodes are in the line.
	 */
	CompletableFuture<Changed> enter(String lock, String path, byte[] data, List<ACL> acl) {
		return this.channel.confirm(path,
				(answer) -> change(answer, lock, Op.create(path, data, acl, CreateMode.EPHEMERAL_SEQUENTIAL)));
	}

	private void change(SessionChannel.Answer<Changed> answer, String lock, Op op) {
		List<Op> ops = List.of(op, Op.setData(lock, NO_CONTENT, ANY_VERSION));
		this.handle.multi(ops, (rc, asked, context, results) -> answer.settle(rc,
				(rc == Code.OK.intValue()) ? Changed.of(lock, results) : null), null);
	}

	/**
	 * Let all reads that follow see whatever the leader knows now.
	 */
	CompletableFuture<String> sync(String path) {
		return this.channel.send(path,
				(answer) -> this.handle.sync(path, (rc, asked, context) -> answer.settle(rc, path), null));
	}

	/**
	 * Check by one write whether nodes exist.
	 * @return the index of the first one that does not exist, or the number of nodes
	 */
	CompletableFuture<Integer> check(List<String> paths) {
		List<Op> checks = paths.stream().map((path) -> Op.check(path, ANY_VERSION)).toList();
		String path = paths.get(0);
		return this.channel.confirm(path, (answer) -> this.handle.multi(checks, (rc, asked, context, results) -> {
			int absent = (results != null) ? firstAbsent(results) : paths.size();
			answer.settle((absent < paths.size()) ? Code.OK.intValue() : rc, absent);
		}, null));
	}

	/**
	 * Check by a write whether a node exists.
	 */
	CompletableFuture<Boolean> check(String path) {
		return check(List.of(path)).thenApply((present) -> present == 1);
	}

	private static int firstAbsent(List<OpResult> results) {
		int i = 0;
		while (i < results.size() && !(results.get(i) instanceof OpResult.ErrorResult error
				&& error.getErr() == Code.NONODE.intValue())) {
			i++;
		}
		return i;
	}

	/**
	 * Return whether a request has failed because a node does not exist.
	 */
	static boolean isAbsent(@Nullable Throwable failure) {
		return failure instanceof KeeperException.NoNodeException
				|| (failure != null && failure.getCause() instanceof KeeperException.NoNodeException);
	}

	/**
	 * A node that was created.
	 *
	 * @param path its path, with the number that the server has added
	 * @param stat its properties
	 */
	record Created(String path, Stat stat) {
	}

	/**
	 * The content of a node.
	 *
	 * @param bytes what was written
	 * @param version how often it was written
	 */
	record Content(byte[] bytes, int version) {
	}

	/**
	 * A line that was changed.
	 *
	 * @param path the path of the node that was created, if one was
	 * @param size the number of nodes in the line afterwards
	 * @param changedAt the id of the transaction
	 * @param createdAt the id of the transaction that has created the lock
	 */
	record Changed(String path, int size, long changedAt, long createdAt) {

		/**
		 * Return what several operations have changed. The path in their results begins
		 * with that of the connect string, unlike all other paths.
		 */
		static Changed of(String lock, List<OpResult> results) {
			String path = (results.get(0) instanceof CreateResult created)
					? lock + created.getPath().substring(created.getPath().lastIndexOf('/')) : "";
			Stat stat = ((SetDataResult) results.get(1)).getStat();
			return new Changed(path, stat.getNumChildren(), stat.getMzxid(), stat.getCzxid());
		}

	}

}
