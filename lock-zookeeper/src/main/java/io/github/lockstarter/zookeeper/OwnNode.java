// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.store.OwnerToken;

/**
 * A node of this JVM in the line of a lock. It is a place in which somebody waits, or
 * gives its holder the lock, or both: a holder may take the turn of another waiter of
 * this JVM, whose place remains. Changed only by the steps of its line.
 */
final class OwnNode {

	private final String path;

	private final NodeName name;

	private final long lockCreatedAt;

	/** Whether it is the place of all waiters of this JVM. */
	private boolean placeOfAll;

	/** The one waiter whose place it is. */
	private @Nullable OwnerToken waiter;

	private @Nullable Holding holding;

	private @Nullable NodeName watched;

	/** Counts down while it is the turn of this node and nobody has come. */
	private @Nullable CompletableFuture<Void> turn;

	/**
	 * Create a node that exists.
	 * @param lockCreatedAt the id of the transaction that has created its lock, or the
	 * largest number if that is not known
	 */
	OwnNode(String path, long lockCreatedAt) {
		this.path = path;
		this.lockCreatedAt = lockCreatedAt;
		this.name = NodeName.ofPath(path);
	}

	String path() {
		return this.path;
	}

	NodeName name() {
		return this.name;
	}

	long lockCreatedAt() {
		return this.lockCreatedAt;
	}

	boolean isPlaceOfAll() {
		return this.placeOfAll;
	}

	boolean isPlaceOf(OwnerToken owner) {
		return owner.equals(this.waiter);
	}

	/**
	 * Return whether it is the place of one waiter.
	 */
	boolean isOwnPlace() {
		return this.waiter != null;
	}

	boolean isPlace() {
		return this.placeOfAll || this.waiter != null;
	}

	void becomePlaceOfAll() {
		this.placeOfAll = true;
	}

	void becomePlaceOf(OwnerToken owner) {
		this.waiter = owner;
	}

	/**
	 * Take over the places of another node.
	 */
	void takePlaces(OwnNode other) {
		this.placeOfAll = other.placeOfAll;
		this.waiter = other.waiter;
		other.giveUpPlaces();
	}

	void giveUpPlaces() {
		this.placeOfAll = false;
		this.waiter = null;
	}

	@Nullable Holding holding() {
		return this.holding;
	}

	boolean isHeld() {
		return this.holding != null;
	}

	void setHolding(@Nullable Holding holding) {
		this.holding = holding;
		endTurn();
	}

	boolean isWaiting() {
		return isPlace() && !isHeld();
	}

	/**
	 * Return whether this node may give a waiter of this JVM the lock.
	 */
	boolean isFreeFor(OwnerToken owner) {
		return !isHeld() && (this.name.isExclusive() || Holding.isShared(owner));
	}

	/**
	 * Note which node is watched.
	 * @return {@code false} if it is watched already
	 */
	boolean watch(NodeName blocker) {
		if (blocker.equals(this.watched)) {
			return false;
		}
		this.watched = blocker;
		return true;
	}

	boolean watches(NodeName name) {
		return name.equals(this.watched);
	}

	void forgetWatch() {
		this.watched = null;
	}

	boolean isTurn() {
		return this.turn != null;
	}

	void setTurn(CompletableFuture<Void> turn) {
		this.turn = turn;
	}

	boolean isTurn(CompletableFuture<Void> turn) {
		return this.turn == turn;
	}

	void endTurn() {
		CompletableFuture<Void> turn = this.turn;
		this.turn = null;
		if (turn != null) {
			turn.cancel(false);
		}
	}

	/**
	 * Return the content of the node of an owner.
	 */
	static byte[] content(OwnerToken owner) {
		return (owner.value() + ' ' + owner.mode()).getBytes(StandardCharsets.UTF_8);
	}

}
