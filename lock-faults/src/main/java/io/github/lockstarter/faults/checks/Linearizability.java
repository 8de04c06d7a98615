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
import java.util.stream.Stream;

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
 * may have ended at any time after it was last known to be held, or never. The release of
 * an inner level may succeed although the lock was lost, which the outermost one reports.
 */
public final class Linearizability {

	private final LockModel model;

	private final List<Operation> operations;

	private final int certain;

	private int furthest;

	private List<Attempt> obstacle = List.of();

	private Linearizability(LockModel model, List<Operation> operations) {
		this.model = model;
		this.operations = operations;
		this.certain = (int) operations.stream().filter((operation) -> !operation.isOpen()).count();
	}

	/**
	 * Check the history of one lock.
	 * @return an empty list, or one violation at the point where the search got stuck,
	 * with the holder at that point and all attempts that could have come next
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
					(known && !hold.isNested()) ? hold.at(Step.GIVE) : lastKnown(hold),
					known ? hold.at(Step.GAVE) : Attempt.NEVER));
		}
		operations.sort(Comparator.comparingLong(Operation::begin));
		return operations;
	}

	/**
	 * Return the last moment at which a lock was known to be held. A process may be
	 * paused between the grant and the moment at which it records it. If the lease is
	 * over when it looks for the first time, nothing is known of the time in between.
	 */
	private static long lastKnown(Attempt hold) {
		return hold.has(Step.HELD) ? hold.heldUntil() : hold.at(Step.ASK);
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
		return List.of(new Violation("linearizability",
				"no order of the operations is possible beyond the first " + this.furthest, this.obstacle));
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
		List<Integer> candidates = candidates(current.done());
		noteObstacle(current, candidates);
		for (int i : candidates) {
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
		}
		return candidates;
	}

	private void noteObstacle(Visited current, List<Integer> candidates) {
		if (current.done().cardinality() >= this.furthest) {
			this.furthest = current.done().cardinality();
			Stream<Operation> holding = current.done()
				.stream()
				.mapToObj(this.operations::get)
				.filter((operation) -> operation.acquires() && current.state().isHeldBy(operation));
			this.obstacle = Stream.concat(holding, candidates.stream().map(this.operations::get))
				.map(Operation::attempt)
				.distinct()
				.toList();
		}
	}

	private record Visited(BitSet done, LockModel.State state) {

	}

}
