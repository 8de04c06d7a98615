// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.UnusableStoreException;
import io.github.lockstarter.zookeeper.ZooKeeperRequests.Changed;

/**
 * The nodes of this JVM in the line of one lock, and requests about all nodes there. Used
 * by the steps of the line.
 */
final class Nodes {

	private static final int ATTEMPTS = 4;

	private final String path;

	private final LockSession session;

	private final List<OwnNode> own = new ArrayList<>();

	/** The ids of nodes that may exist, because their creation was not answered. */
	private final List<String> uncertain = new ArrayList<>();

	/** The nodes to delete, and whether a request to do so is under way. */
	private final Map<String, Boolean> leaving = new ConcurrentHashMap<>();

	Nodes(String path, LockSession session) {
		this.path = path;
		this.session = session;
	}

	boolean isEmpty() {
		return this.own.isEmpty() && this.uncertain.isEmpty() && this.leaving.isEmpty();
	}

	List<OwnNode> all() {
		return List.copyOf(this.own);
	}

	/**
	 * Return the first node that meets a condition, or {@code null}.
	 */
	@Nullable OwnNode first(Predicate<OwnNode> condition) {
		return this.own.stream().filter(condition).min((a, b) -> a.name().compareTo(b.name())).orElse(null);
	}

	boolean isOwn(NodeName name) {
		return this.own.stream().anyMatch((node) -> node.name().equals(name));
	}

	String pathOf(NodeName name) {
		return this.path + '/' + name.text();
	}

	CompletableFuture<LineView> view() {
		return this.session.requests()
			.list(this.path)
			.exceptionallyCompose((ex) -> ZooKeeperRequests.isAbsent(ex)
					? CompletableFuture.completedFuture(LineView.empty()) : CompletableFuture.failedFuture(ex));
	}

	/**
	 * Create a node at the end of the line.
	 * @param owner the owner on whose behalf it is created
	 */
	CompletableFuture<Entered> enter(boolean exclusive, OwnerToken owner) {
		return enter(exclusive, owner, 0);
	}

	private CompletableFuture<Entered> enter(boolean exclusive, OwnerToken owner, int attempt) {
		CompletableFuture<?> created = (attempt > 0) ? this.session.createLock(this.path, attempt > 1)
				: CompletableFuture.completedFuture(true);
		String id = NodeName.newId(owner);
		this.uncertain.add(id);
		CompletableFuture<Entered> entered = this.session
			.enter(this.path, this.path + '/' + NodeName.begin(id, exclusive), OwnNode.content(owner))
			.whenComplete((changed, ex) -> {
				if (changed != null) {
					this.uncertain.remove(id);
					this.own.add(new OwnNode(changed.path(), changed.createdAt()));
				}
				else if (ZooKeeperRequests.isAbsent(ex) || ex instanceof UnusableStoreException) {
					this.uncertain.remove(id);
				}
			})
			.thenCompose((changed) -> entered(node(changed.path()), changed));
		return entered.exceptionallyCompose((ex) -> {
			if (!ZooKeeperRequests.isAbsent(ex)) {
				return CompletableFuture.failedFuture(ex);
			}
			return (attempt + 1 < ATTEMPTS) ? enter(exclusive, owner, attempt + 1)
					: created.thenCompose((done) -> CompletableFuture.failedFuture(ex));
		});
	}

	private CompletableFuture<Entered> entered(OwnNode node, Changed changed) {
		return node.name().isTooLarge() ? endLine(node)
				: view(changed).thenApply((view) -> new Entered(node, changed.changedAt(), view));
	}

	/**
	 * Leave a line whose numbers are too large, and delete the lock if nobody else is in
	 * the line: the next line begins with small numbers.
	 * @return fails because the lock does not exist, or because others are in the line
	 */
	private CompletableFuture<Entered> endLine(OwnNode node) {
		return delete(node).thenCompose((existed) -> this.session.requests().delete(this.path))
			.handle((existed, ex) -> {
				throw new CompletionException((ex == null) ? new KeeperException.NoNodeException(this.path)
						: new IllegalStateException("'" + this.path
								+ "' must be without owners and waiters once, because its nodes have too large numbers",
								ex));
			});
	}

	/** The line needs not be read if at most the node that was created is in it. */
	private CompletableFuture<LineView> view(Changed changed) {
		List<String> created = changed.path().isEmpty() ? List.of() : List.of(NodeName.ofPath(changed.path()).text());
		return (changed.size() > created.size()) ? view()
				: CompletableFuture.completedFuture(LineView.of(created, changed.changedAt()));
	}

	private OwnNode node(String path) {
		return this.own.stream().filter((node) -> node.path().equals(path)).findFirst().orElseThrow();
	}

	/**
	 * Delete a node. If that fails, it is deleted again later.
	 * @return whether it existed
	 */
	CompletableFuture<Boolean> delete(OwnNode node) {
		forget(node);
		return delete(node.path());
	}

	private CompletableFuture<Boolean> delete(String path) {
		return noteLeaving(path, this.session.requests().delete(path));
	}

	private <T extends @Nullable Object> CompletableFuture<T> noteLeaving(String path, CompletableFuture<T> left) {
		this.leaving.put(path, true);
		return left.whenComplete((result, ex) -> {
			if (ex == null) {
				this.leaving.remove(path);
				this.session.tidy(this.path);
			}
			else {
				this.leaving.put(path, false);
			}
		});
	}

	/**
	 * Forget a node that does not exist any more.
	 */
	void forget(OwnNode node) {
		this.own.remove(node);
		node.endTurn();
	}

	/**
	 * Delete all nodes without a purpose.
	 */
	CompletableFuture<Void> sweep() {
		return CompletableFuture.allOf(all().stream()
			.filter((node) -> !node.isPlace() && !node.isHeld())
			.map(this::delete)
			.toArray(CompletableFuture[]::new));
	}

	/**
	 * View the line as it is now. The member of the ensemble that answers may be behind
	 * the others.
	 */
	CompletableFuture<LineView> currentView() {
		CompletableFuture<?> synced = this.session.requests().sync(this.path);
		return synced.thenCombine(view(), (path, view) -> view);
	}

	/**
	 * Delete again what could not be deleted, and find the nodes whose creation was not
	 * answered.
	 */
	CompletableFuture<?> recover() {
		this.leaving.forEach((path, underWay) -> {
			if (!underWay) {
				delete(path);
			}
		});
		if (this.uncertain.isEmpty()) {
			return CompletableFuture.completedFuture(true);
		}
		return currentView().thenApply((view) -> {
			view.names()
				.stream()
				.filter((name) -> this.uncertain.contains(name.id()))
				.forEach((name) -> this.own.add(new OwnNode(pathOf(name), Long.MAX_VALUE)));
			this.uncertain.clear();
			return true;
		});
	}

	/**
	 * A new node.
	 *
	 * @param createdAt the id of the transaction that has created it
	 * @param view the line afterwards
	 */
	record Entered(OwnNode node, long createdAt, LineView view) {
	}

}
