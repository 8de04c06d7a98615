// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.checks;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.faults.history.Attempt;
import io.github.lockstarter.faults.history.History;
import io.github.lockstarter.faults.history.Step;

/**
 * Checks whether all operations on a lock have an order that a correct lock and each
 * caller could have observed: the search of Wing and Gong with the memory of Lowe,
 * <a href="https://doi.org/10.1002/cpe.3928">Testing for linearizability</a>.
 *
 * <p>
 * A refused attempt changes nothing. An attempt with an unknown outcome may have acquired
 * the lock, which was then released as an orphan. Nothing has observed that, so it is
 * ignored as well. The end of a hold that was lost, or whose process died, is unknown: it
 * may have ended at any time after it was last known to be held, or never.
 */
public final class Linearizability {

	private final LockModel model;

	private final List<Operation> operations;

	private final int certain;

	private int furthest;

	private @Nullable Operation obstacle;

	private Linearizability(LockModel model, List<Operation> operations) {
		this.model = model;
		this.operations = operations;
		this.certain = (int) operations.stream().filter((operation) -> !operation.isOpen()).count();
	}

	/**
	 * Check the history of one lock.
	 * @return an empty list, or one violation at the point where the search got stuck
	 */
	public static List<Violation> check(History history, LockModel model) {
		return new Linearizability(model, operations(history)).search();
	}

	private static List<Operation> operations(History history) {
		List<Operation> operations = new ArrayList<>();
		for (Attempt hold : history.holds()) {
			operations
				.add(new Operation(hold, hold.owner(), true, hold.token(), hold.at(Step.ASK), hold.at(Step.GRANTED)));
			boolean known = hold.isReleased();
			operations.add(new Operation(hold, hold.owner(), false, hold.token(),
					known ? hold.at(Step.GIVE) : hold.heldUntil(), known ? hold.at(Step.GAVE) : Attempt.NEVER));
		}
		operations.sort(Comparator.comparingLong(Operation::begin));
		return operations;
	}

	private List<Violation> search() {
		Set<Visited> visited = new HashSet<>();
		Deque<Visited> stack = new ArrayDeque<>();
		stack.push(new Visited(new BitSet(), LockModel.FREE));
		while (!stack.isEmpty()) {
			Visited current = stack.pop();
			if (isComplete(current.done())) {
				return List.of();
			}
			// The operation that began first comes first, because that is usually right
			List<Visited> successors = successors(current);
			for (int i = successors.size() - 1; i >= 0; i--) {
				if (visited.add(successors.get(i))) {
					stack.push(successors.get(i));
				}
			}
		}
		Operation obstacle = this.obstacle;
		return List.of(new Violation("linearizability",
				"no order of the operations is possible beyond the first " + this.furthest,
				(obstacle != null) ? List.of(obstacle.attempt()) : List.of()));
	}

	private boolean isComplete(BitSet done) {
		long certainDone = done.stream().filter((i) -> !this.operations.get(i).isOpen()).count();
		return certainDone == this.certain;
	}

	/**
	 * Return the possible successors: operations that began before the end of all other
	 * pending operations.
	 */
	private List<Visited> successors(Visited current) {
		List<Visited> successors = new ArrayList<>();
		for (int i : candidates(current.done())) {
			LockModel.State state = this.model.step(current.state(), this.operations.get(i));
			if (state != null) {
				BitSet done = (BitSet) current.done().clone();
				done.set(i);
				successors.add(new Visited(done, state));
			}
		}
		return successors;
	}

	private List<Integer> candidates(BitSet done) {
		List<Integer> candidates = new ArrayList<>();
		Operation first = null;
		for (int i = done.nextClearBit(0); i < this.operations.size(); i = done.nextClearBit(i + 1)) {
			Operation operation = this.operations.get(i);
			if (first != null && operation.begin() > first.end()) {
				break;
			}
			candidates.add(i);
			if (first == null || operation.end() < first.end()) {
				first = operation;
			}
		}
		if (first != null) {
			long end = first.end();
			candidates.removeIf((i) -> this.operations.get(i).begin() > end);
			noteObstacle(done, first);
		}
		return candidates;
	}

	private void noteObstacle(BitSet done, Operation operation) {
		if (done.cardinality() >= this.furthest) {
			this.furthest = done.cardinality();
			this.obstacle = operation;
		}
	}

	private record Visited(BitSet done, LockModel.State state) {

	}

}
