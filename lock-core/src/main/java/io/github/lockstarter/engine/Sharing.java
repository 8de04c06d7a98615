// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Lets waiters join the holders of a shared lock while no other JVM waits. Guarded by the
 * lock.
 */
final class Sharing {

	private final WaiterQueue queue;

	private final Possession possession;

	/** Whether a look for waiters that may join is due. */
	private boolean looking;

	Sharing(WaiterQueue queue, Possession possession) {
		this.queue = queue;
		this.possession = possession;
	}

	/**
	 * Return whether a waiter may join now, if it is its turn.
	 */
	boolean canJoin(Waiter waiter) {
		Tenure tenure = sharedTenure();
		return tenure != null && waiter.discipline().joinsHolders() && tenure.canBeHandedOn(tenure.now());
	}

	/**
	 * Let a waiter join at once if the queue is empty, or first ask whether it may.
	 */
	Effect join(Waiter waiter) {
		Tenure tenure = sharedTenure();
		if (tenure == null || tenure.mustAsk(tenure.now())) {
			this.queue.add(waiter);
			// The answer may be that a writer waits, or come when the lease is uncertain
			return ((tenure != null) ? probe(tenure) : Effect.NONE).and(lookLater());
		}
		this.possession.hold(waiter, tenure);
		return goOn(tenure);
	}

	/**
	 * Let waiters at the head of the queue join, or first ask whether they may.
	 */
	Effect admit() {
		Tenure unknown = tenureToAskFor();
		return (unknown != null) ? probe(unknown) : admitNow();
	}

	/**
	 * Let waiters at the head of the queue join.
	 */
	Effect admitNow() {
		Tenure tenure = sharedTenure();
		List<Waiter> joined = new ArrayList<>(0);
		while (tenure != null && !this.queue.isEmpty() && canJoin(this.queue.first())) {
			Waiter next = this.queue.takeFirst();
			this.possession.hold(next, tenure);
			joined.add(next);
		}
		return (tenure == null || joined.isEmpty()) ? Effect.NONE : Effect.wake(joined).and(goOn(tenure));
	}

	/**
	 * Look after a pause whether shared waiters may join, if there are any.
	 */
	Effect lookLater() {
		Tenure tenure = sharedTenure();
		if (this.looking || tenure == null || !this.queue.hasReader()) {
			return Effect.NONE;
		}
		this.looking = true;
		return (desk) -> desk.lookLater(tenure.key());
	}

	/**
	 * Look whether shared waiters may join now.
	 */
	Effect look() {
		this.looking = false;
		Tenure tenure = sharedTenure();
		if (tenure == null || !this.queue.hasReader()) {
			return Effect.NONE;
		}
		tenure.setWanted();
		boolean asking = tenure.slice().isOver(tenure.now()) && tenure.slice().beginAsking(tenure.now());
		Effect probe = asking ? (desk) -> desk.probe(tenure) : Effect.NONE;
		return admit().and((desk) -> desk.watch(tenure)).and(probe).and(lookLater());
	}

	private Effect goOn(Tenure tenure) {
		boolean probing = tenure.slice().beginProbe(tenure.now());
		return (desk) -> {
			desk.watch(tenure);
			if (probing) {
				desk.probe(tenure);
			}
		};
	}

	private static Effect probe(Tenure tenure) {
		return tenure.slice().beginAsking(tenure.now()) ? (desk) -> desk.probe(tenure) : Effect.NONE;
	}

	private @Nullable Tenure tenureToAskFor() {
		Tenure tenure = sharedTenure();
		return (tenure != null && tenure.mustAsk(tenure.now()) && !this.queue.isEmpty() && canJoin(this.queue.first()))
				? tenure : null;
	}

	private @Nullable Tenure sharedTenure() {
		Tenure tenure = this.possession.tenure();
		return (tenure != null && tenure.isShared()) ? tenure : null;
	}

}
