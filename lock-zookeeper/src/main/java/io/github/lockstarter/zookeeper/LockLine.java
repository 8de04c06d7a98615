// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;

/**
 * The line of one lock, as seen by one session: the places of this JVM and the owners in
 * it. Only the steps of the line change it.
 */
final class LockLine {

	private final LockKey key;

	private final LockSession session;

	private final Nodes nodes;

	private final Places places;

	private final Steps steps;

	private final ConcurrentMap<OwnerToken, Holding> holdings = new ConcurrentHashMap<>();

	LockLine(LockKey key, String path, LockSession session) {
		this.key = key;
		this.session = session;
		this.nodes = new Nodes(path, session);
		this.places = new Places(key, session, this.nodes);
		this.steps = new Steps(() -> session.tidy(path));
	}

	LockKey key() {
		return this.key;
	}

	LockSession session() {
		return this.session;
	}

	Nodes nodes() {
		return this.nodes;
	}

	Places places() {
		return this.places;
	}

	Steps steps() {
		return this.steps;
	}

	/**
	 * Return whether nothing is left of this line.
	 */
	boolean isOver() {
		return this.steps.isIdle() && this.nodes.isEmpty();
	}

	/**
	 * Return what an owner holds, or {@code null}.
	 */
	@Nullable Holding holdingOf(OwnerToken owner) {
		return this.holdings.get(owner);
	}

	/**
	 * Return the longest time until a lease in this line ends.
	 */
	long remainingNanos() {
		return this.holdings.values().stream().mapToLong(Holding::remainingNanos).max().orElse(0);
	}

	/**
	 * Answer a question after the nodes of this JVM are known.
	 */
	<T> CompletableFuture<T> prepare(CompletableFuture<T> answer, Function<LockLine, CompletableFuture<T>> question) {
		if (answer.isDone()) {
			// Nobody awaits it any more
			return answer;
		}
		CompletableFuture<?> known = this.nodes.recover();
		CompletableFuture<T> answered = known.isDone() && !known.isCompletedExceptionally() ? question.apply(this)
				: known.thenCompose((same) -> question.apply(this));
		return answered.whenComplete((result, ex) -> this.nodes.sweep());
	}

	CompletableFuture<AcquireResult> acquire(LeaseRequest request, boolean wait) {
		return new Acquisition(this, request, wait).run();
	}

	/**
	 * Let an owner hold a node.
	 */
	void begin(OwnerToken owner, OwnNode node, long fencingBase, Duration leaseTime) {
		Holding holding = new Holding(owner, node, fencingBase);
		node.setHolding(holding);
		this.holdings.put(owner, holding);
		holding.begin(leaseTime, () -> this.session.ask(this.key, (line) -> line.expire(holding)));
	}

	/**
	 * Note that the node of an owner does not exist any more.
	 */
	boolean lose(Holding holding) {
		holding.end();
		boolean held = this.holdings.remove(holding.owner(), holding);
		if (held) {
			holding.node().setHolding(null);
			this.nodes.forget(holding.node());
		}
		return held;
	}

	/** The lease of an owner has ended. */
	private CompletableFuture<Boolean> expire(Holding holding) {
		return holding.isOver() ? end(holding) : CompletableFuture.completedFuture(false);
	}

	/**
	 * End a holding. If its node is the place of a waiter as well, it is its turn again.
	 * @return whether the node still existed
	 */
	CompletableFuture<Boolean> end(Holding holding) {
		OwnNode node = holding.node();
		holding.end();
		if (!this.holdings.remove(holding.owner(), holding)) {
			return CompletableFuture.completedFuture(false);
		}
		node.setHolding(null);
		if (node.isPlace()) {
			this.places.turn(node);
			return CompletableFuture.completedFuture(true);
		}
		return this.nodes.delete(node);
	}

	/**
	 * Release the lock of an owner.
	 * @return whether the owner held it
	 */
	CompletableFuture<Boolean> release(OwnerToken owner) {
		Holding holding = this.holdings.get(owner);
		if (holding == null) {
			return new Remains(this.nodes, this.session.requests()).release(owner);
		}
		boolean owned = !holding.isOver();
		return end(holding).thenApply((existed) -> owned && existed);
	}

	/**
	 * Return whether an owner has, or gets, a place of its own.
	 */
	static boolean hasOwnPlace(OwnerToken owner) {
		return owner.mode() == LockMode.FAIR;
	}

}
