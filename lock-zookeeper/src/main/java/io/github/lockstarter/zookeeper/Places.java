// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.OwnerToken;

/**
 * The places of this JVM in the line of a lock: each watches the node before it, and is
 * notified of its turn. Used by the steps of the line.
 */
final class Places {

	private final LockKey key;

	private final LockSession session;

	private final Nodes nodes;

	Places(LockKey key, LockSession session, Nodes nodes) {
		this.key = key;
		this.session = session;
		this.nodes = nodes;
	}

	/**
	 * Let the waiters of this JVM join the line at its end.
	 */
	CompletableFuture<OwnNode> enter(boolean exclusive, OwnerToken owner) {
		return this.nodes.enter(exclusive, owner).thenApply((entered) -> {
			entered.node().becomePlaceOfAll();
			watch(entered.node(), entered.view());
			return entered.node();
		});
	}

	/**
	 * Put an owner into the line under its own token.
	 */
	CompletableFuture<Boolean> enter(OwnerToken owner) {
		if (this.nodes.first((node) -> node.isPlaceOf(owner)) != null) {
			return CompletableFuture.completedFuture(true);
		}
		return this.nodes.enter(true, owner).thenApply((entered) -> {
			entered.node().becomePlaceOf(owner);
			watch(entered.node(), entered.view());
			return true;
		});
	}

	/**
	 * Take this JVM out of the line.
	 */
	CompletableFuture<Boolean> withdraw() {
		return leave(this.nodes.all()
			.stream()
			.filter((node) -> node.isPlaceOfAll() || (node.isOwnPlace() && node.isTurn()))
			.toList());
	}

	/**
	 * Take an owner out of the line.
	 */
	CompletableFuture<Boolean> withdraw(OwnerToken owner) {
		return leave(this.nodes.all().stream().filter((node) -> node.isPlaceOf(owner)).toList());
	}

	/**
	 * Take this JVM and all its owners out of the line.
	 */
	CompletableFuture<Boolean> leaveAll() {
		return leave(this.nodes.all().stream().filter(OwnNode::isPlace).toList());
	}

	private CompletableFuture<Boolean> leave(List<OwnNode> places) {
		places.forEach(OwnNode::giveUpPlaces);
		CompletableFuture<?>[] deleted = places.stream()
			.filter((node) -> !node.isHeld())
			.map(this.nodes::delete)
			.toArray(CompletableFuture[]::new);
		return CompletableFuture.allOf(deleted).thenApply((all) -> true);
	}

	/**
	 * A watched node has changed or was deleted.
	 */
	CompletableFuture<Boolean> changed(NodeName name) {
		this.nodes.all().stream().filter((node) -> node.watches(name)).forEach(OwnNode::forgetWatch);
		return review();
	}

	private CompletableFuture<Boolean> notWatched(NodeName name, Throwable failure) {
		if (ZooKeeperRequests.isAbsent(failure)) {
			return changed(name);
		}
		// The next question, or the next connection, tries again
		this.nodes.all().stream().filter((node) -> node.watches(name)).forEach(OwnNode::forgetWatch);
		return CompletableFuture.completedFuture(false);
	}

	/**
	 * Look after the waiting nodes.
	 */
	CompletableFuture<Boolean> review() {
		if (this.nodes.first(OwnNode::isWaiting) == null) {
			return CompletableFuture.completedFuture(true);
		}
		return this.nodes.view().thenApply((view) -> {
			this.nodes.all().stream().filter(OwnNode::isWaiting).forEach((node) -> watch(node, view));
			return true;
		});
	}

	/**
	 * Watch the node that a waiting node has to wait for. If there is none, it is its
	 * turn.
	 */
	void watch(OwnNode node, LineView view) {
		NodeName blocker = view.blockerOf(node.name());
		if (!view.contains(node.name())) {
			// Somebody else has deleted it: its waiter has to ask again
			this.nodes.forget(node);
			this.session.listener().onTurn(this.key);
		}
		else if (blocker == null) {
			turn(node);
		}
		else if (node.watch(blocker)) {
			this.session.requests().read(this.nodes.pathOf(blocker), this.session).whenComplete((content, ex) -> {
				if (ex != null) {
					this.session.ask(this.key, (line) -> line.places().notWatched(blocker, ex));
				}
			});
		}
	}

	/**
	 * It is the turn of a node.
	 */
	void turn(OwnNode node) {
		if (!node.isTurn()) {
			CompletableFuture<Void> turn = Alarms.after(this.session.reservation().toNanos(), TimeUnit.NANOSECONDS);
			node.setTurn(turn);
			turn.thenRun(() -> this.session.ask(this.key, (line) -> line.places().passOver(node, turn)));
			this.session.listener().onTurn(this.key);
		}
	}

	private CompletableFuture<Boolean> passOver(OwnNode node, CompletableFuture<Void> turn) {
		return node.isTurn(turn) ? leave(List.of(node)) : CompletableFuture.completedFuture(false);
	}

}
