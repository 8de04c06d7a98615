// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;

import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.UnusableStoreException;
import io.github.lockstarter.zookeeper.ZooKeeperRequests.Changed;
import io.github.lockstarter.zookeeper.ZooKeeperRequests.Created;

/**
 * One session and the lines of all locks in which it has nodes. When the session ends,
 * all of them are void.
 */
final class LockSession implements Watcher {

	private static final byte[] NO_CONTENT = new byte[0];

	private final ZooKeeperRequests requests;

	private final LockPaths paths;

	private final NodeAcls acls;

	private final TurnListener listener;

	private final Duration reservation;

	private final ConcurrentMap<String, LockLine> lines = new ConcurrentHashMap<>();

	private volatile CompletableFuture<FencingBases> bases = CompletableFuture
		.failedFuture(new IllegalStateException("The root node is not known yet"));

	/**
	 * Begin without locks.
	 * @param listener called when it is the turn of this JVM
	 * @param reservation how long a free lock is reserved for this JVM
	 */
	LockSession(ZooKeeperRequests requests, LockPaths paths, NodeAcls acls, TurnListener listener,
			Duration reservation) {
		this.requests = requests;
		this.paths = paths;
		this.acls = acls;
		this.listener = listener;
		this.reservation = reservation;
	}

	ZooKeeperRequests requests() {
		return this.requests;
	}

	TurnListener listener() {
		return this.listener;
	}

	/**
	 * Return how long a free lock is reserved for this JVM. If it does not come by then,
	 * it is passed over.
	 */
	Duration reservation() {
		return this.reservation;
	}

	/**
	 * Ask the line of a lock, after all earlier questions about it.
	 * @return the answer, on which no step waits: it may be ended earlier
	 */
	<T> CompletableFuture<T> ask(LockKey key, Function<LockLine, CompletableFuture<T>> question) {
		CompletableFuture<T> answer = new CompletableFuture<>();
		String path = this.paths.of(key);
		LockLine line = this.lines.compute(path, (same, existing) -> {
			LockLine each = (existing != null) ? existing : new LockLine(key, path, this);
			each.steps().add(answer, () -> each.prepare(answer, question));
			return each;
		});
		line.steps().proceed();
		return answer;
	}

	String pathOf(LockKey key) {
		return this.paths.of(key);
	}

	/**
	 * Return the line of a lock in which this session has a node, or {@code null}.
	 */
	@Nullable LockLine line(LockKey key) {
		return this.lines.get(this.paths.of(key));
	}

	/**
	 * Return the lines in which this session has nodes.
	 */
	List<LockLine> lines() {
		return new ArrayList<>(this.lines.values());
	}

	/**
	 * Forget the line of a lock if nothing is left of it.
	 */
	void tidy(String path) {
		this.lines.computeIfPresent(path, (same, line) -> line.isOver() ? null : line);
	}

	/**
	 * Let the nodes of all lines be looked after again, after the connection was lost.
	 */
	void review() {
		lines().forEach((line) -> ask(line.key(), (same) -> same.places().review()));
	}

	/**
	 * Send a request whose answer shows that the ensemble hears of the session.
	 */
	void keepContact() {
		long sentAt = System.nanoTime();
		this.requests.look(this.paths.root()).whenComplete((root, ex) -> {
			if (ex == null || ZooKeeperRequests.isAbsent(ex)) {
				this.requests.channel().heard(sentAt);
			}
		});
	}

	/**
	 * Leave all lines.
	 * @return how long the leases of remaining owners last, in nanoseconds
	 */
	long leave() {
		lines().forEach((line) -> ask(line.key(), (same) -> same.places().leaveAll()));
		return lines().stream().mapToLong(LockLine::remainingNanos).max().orElse(0);
	}

	/**
	 * One watcher for all nodes: a node is watched once, however often that was asked.
	 */
	@Override
	public void process(WatchedEvent event) {
		String path = event.getPath();
		LockLine line = (path != null) ? this.lines.get(LockPaths.lockOf(path)) : null;
		if (line != null) {
			ask(line.key(), (same) -> same.places().changed(NodeName.ofPath(path)));
		}
	}

	/**
	 * Return the fencing bases of a lock. Its root may be another one than before, if a
	 * program has deleted all locks.
	 * @param createdAt the id of the transaction that has created the lock
	 */
	CompletableFuture<FencingBases> bases(long createdAt) {
		return this.bases.handle((bases, ex) -> (bases != null && bases.apply(createdAt))
				? CompletableFuture.completedFuture(bases) : readBases())
			.thenCompose(Function.identity());
	}

	private CompletableFuture<FencingBases> readBases() {
		CompletableFuture<FencingBases> bases = this.requests.look(this.paths.root()).thenApply(FencingBases::of);
		this.bases = bases;
		return bases;
	}

	private CompletableFuture<Created> create(String path, CreateMode mode) {
		try {
			return this.requests.create(path, NO_CONTENT, this.acls.of(path), mode);
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * Create a node in the line of a lock.
	 */
	CompletableFuture<Changed> enter(String lock, String path, byte[] content) {
		try {
			return this.requests.enter(lock, path, content, this.acls.of(path));
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * Create the node of a lock before the requests that follow, unless it exists. The
	 * server removes it some time after its last child.
	 * @param ancestors whether the nodes above it may be missing as well
	 * @return fails if one of them may not be created, which matters if it does not exist
	 */
	CompletableFuture<?> createLock(String path, boolean ancestors) {
		List<CompletableFuture<Boolean>> permitted = new ArrayList<>();
		if (ancestors) {
			List<String> all = this.paths.ancestors();
			// To create a node that exists may be refused to a user who may use the root
			all.subList(0, all.size() - 1).forEach((each) -> create(each, CreateMode.PERSISTENT));
			permitted.add(permitted(create(all.get(all.size() - 1), CreateMode.PERSISTENT)));
			permitted.add(permitted(requireTop()));
		}
		permitted.add(permitted(create(path, CreateMode.CONTAINER)));
		readBases();
		return CompletableFuture.allOf(permitted.toArray(CompletableFuture[]::new));
	}

	private static CompletableFuture<Boolean> permitted(CompletableFuture<?> created) {
		return created.handle((node, ex) -> {
			if (ex instanceof UnusableStoreException unusable) {
				throw unusable;
			}
			return true;
		});
	}

	/**
	 * Require the path at the end of the connect string, which no session of it can
	 * create.
	 * @return fails with an {@link UnusableStoreException} if it does not exist
	 */
	CompletableFuture<?> requireTop() {
		CompletableFuture<Object> required = new CompletableFuture<>();
		this.requests.look("/").whenComplete((stat, ex) -> {
			if (ZooKeeperRequests.isAbsent(ex)) {
				required.completeExceptionally(new UnusableStoreException(
						"The path at the end of the connect string of the CuratorFramework does not exist: create it"
								+ " once, or use a namespace in its place, which the locks create",
						ex));
			}
			else {
				required.complete(true);
			}
		});
		return required;
	}

	/**
	 * Called when it is the turn of this JVM.
	 */
	@FunctionalInterface
	interface TurnListener {

		void onTurn(LockKey key);

	}

}
