// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;

/**
 * One request for a lock, as a step of its line. The first node of this JVM that nobody
 * holds is used for it; without such a node a new one joins the line.
 *
 * <p>
 * A grant is numbered by a write that was made while it was the turn of the node: if the
 * line has not changed since the node was created, by its creation, otherwise by a
 * further write. That write confirms the session as well.
 */
final class Acquisition {

	private final LockLine line;

	private final Nodes nodes;

	private final ZooKeeperRequests requests;

	private final LeaseRequest request;

	private final OwnerToken owner;

	private final boolean shared;

	private final boolean wait;

	Acquisition(LockLine line, LeaseRequest request, boolean wait) {
		this.line = line;
		this.nodes = line.nodes();
		this.requests = line.session().requests();
		this.request = request;
		this.owner = request.owner();
		this.shared = Holding.isShared(request.owner());
		this.wait = wait;
	}

	CompletableFuture<AcquireResult> run() {
		Holding holding = this.line.holdingOf(this.owner);
		if (holding != null) {
			return holding.isOver() ? this.line.end(holding).thenCompose((existed) -> run()) : confirm(holding);
		}
		if (!this.shared) {
			// It would stand in the way of this owner
			this.nodes.all()
				.stream()
				.filter((node) -> node.isPlaceOfAll() && !node.name().isExclusive())
				.forEach(OwnNode::giveUpPlaces);
			this.nodes.sweep();
		}
		OwnNode node = this.nodes.first((each) -> each.isFreeFor(this.owner));
		return (node != null) ? claim(node) : enter();
	}

	private CompletableFuture<AcquireResult> confirm(Holding holding) {
		return this.requests.check(holding.node().path()).thenCompose((exists) -> {
			if (!exists) {
				this.line.lose(holding);
			}
			holding.extend(this.request.leaseTime());
			if (holding.isOver()) {
				return run();
			}
			return answer(new AcquireResult.Grant(holding.fencingBase()));
		});
	}

	private CompletableFuture<AcquireResult> enter() {
		return this.nodes.enter(!this.shared, this.owner).thenCompose((entered) -> {
			OwnNode node = entered.node();
			LineView view = entered.view();
			if (this.wait) {
				takePlace(node);
			}
			if (!view.isTurnOf(node.name(), this.shared)) {
				return refuse(view);
			}
			return (view.changedAt() == entered.createdAt()) ? grant(node, entered.createdAt()) : number(node);
		});
	}

	private CompletableFuture<AcquireResult> claim(OwnNode node) {
		CompletableFuture<AcquireResult> claimed = node.isTurn() ? claimAtOnce(node) : this.nodes.currentView()
			.thenCompose((view) -> view.isTurnOf(node.name(), this.shared) ? number(node) : refuse(view));
		return claimed.exceptionallyCompose((ex) -> {
			if (ZooKeeperRequests.isAbsent(ex)) {
				this.nodes.forget(node);
				return run();
			}
			return CompletableFuture.failedFuture(ex);
		});
	}

	/** It is known to be the turn of the node, unless the line has changed. */
	private CompletableFuture<AcquireResult> claimAtOnce(OwnNode node) {
		return write(node).thenCombine(this.nodes.view(), (stat, view) -> {
			if (!view.isTurnOf(node.name(), this.shared)) {
				node.endTurn();
				return refuse(view);
			}
			return (view.changedAt() < stat.getMzxid()) ? grant(node, stat.getMzxid()) : number(node);
		}).thenCompose(Function.identity());
	}

	private CompletableFuture<AcquireResult> number(OwnNode node) {
		return write(node).thenCompose((stat) -> grant(node, stat.getMzxid()));
	}

	private CompletableFuture<Stat> write(OwnNode node) {
		return this.requests.write(node.path(), OwnNode.content(this.owner));
	}

	private CompletableFuture<AcquireResult> grant(OwnNode node, long zxid) {
		return this.line.session().bases(node.lockCreatedAt()).thenApply((bases) -> {
			long base = bases.of(zxid);
			givePlaceUp(node);
			this.line.begin(this.owner, node, base, this.request.leaseTime());
			return new AcquireResult.Grant(base);
		});
	}

	/**
	 * Give the place of the owner up. If the owner takes the turn of another waiter of
	 * this JVM, no other JVM loses by that: a FAIR owner exchanges places with the
	 * waiter, and from any other owner the waiter gets its own place back.
	 */
	private void givePlaceUp(OwnNode node) {
		OwnNode due = place();
		if (due != null && due != node && LockLine.hasOwnPlace(this.owner)) {
			due.takePlaces(node);
		}
		else if (due != null) {
			due.giveUpPlaces();
		}
	}

	private CompletableFuture<AcquireResult> refuse(LineView view) {
		// The names do not tell whether it has the lock or only its turn
		AcquireResult refusal = new AcquireResult.Refusal(null,
				view.names().isEmpty() ? null : OwnerToken.holder(view.names().get(0).id()));
		OwnNode due = place();
		boolean placed = due != null && (this.shared || due.name().isExclusive());
		if (!this.wait || placed) {
			this.nodes.all()
				.stream()
				.filter(OwnNode::isWaiting)
				.forEach((node) -> this.line.places().watch(node, view));
			// A node that is left would count as a waiter
			return this.nodes.sweep().handle((swept, ex) -> refusal);
		}
		return this.nodes.enter(!this.shared, this.owner).thenApply((entered) -> {
			takePlace(entered.node());
			this.line.places().watch(entered.node(), entered.view());
			return refusal;
		});
	}

	private @Nullable OwnNode place() {
		return LockLine.hasOwnPlace(this.owner) ? this.nodes.first((node) -> node.isPlaceOf(this.owner))
				: this.nodes.first(OwnNode::isPlaceOfAll);
	}

	private void takePlace(OwnNode node) {
		if (LockLine.hasOwnPlace(this.owner)) {
			node.becomePlaceOf(this.owner);
		}
		else {
			this.nodes.all().stream().filter(OwnNode::isPlaceOfAll).forEach(OwnNode::giveUpPlaces);
			node.becomePlaceOfAll();
		}
	}

	private static CompletableFuture<AcquireResult> answer(AcquireResult attempt) {
		return CompletableFuture.completedFuture(attempt);
	}

}
