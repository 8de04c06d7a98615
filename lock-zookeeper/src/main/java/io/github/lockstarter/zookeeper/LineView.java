// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The line of a lock at one moment: all of its nodes, the first of which own the lock.
 */
final class LineView {

	private static final LineView EMPTY = new LineView(List.of(), 0);

	private final List<NodeName> names;

	private final long changedAt;

	private LineView(List<NodeName> names, long changedAt) {
		this.names = names;
		this.changedAt = changedAt;
	}

	/**
	 * Return the line of a lock without nodes.
	 */
	static LineView empty() {
		return EMPTY;
	}

	/**
	 * Return a line.
	 * @param children the names of its nodes, in any order
	 * @param changedAt the id of the transaction that has added or removed a node last
	 */
	static LineView of(List<String> children, long changedAt) {
		List<NodeName> names = new ArrayList<>(children.size());
		for (String child : children) {
			NodeName name = NodeName.parse(child);
			if (name != null) {
				names.add(name);
			}
		}
		names.sort(null);
		return new LineView(names, changedAt);
	}

	/**
	 * Return the id of the transaction that has added or removed a node last.
	 */
	long changedAt() {
		return this.changedAt;
	}

	List<NodeName> names() {
		return this.names;
	}

	boolean contains(NodeName name) {
		return this.names.contains(name);
	}

	/**
	 * Return whether nothing before a node keeps its owner from the lock.
	 * @param shared whether the owner shares the lock with the owners of shared nodes
	 */
	boolean isTurnOf(NodeName name, boolean shared) {
		int rank = this.names.indexOf(name);
		return rank >= 0 && (shared ? leadingShared() >= rank : rank == 0);
	}

	/**
	 * Return the one node that a node has to wait for, or {@code null} if there is none.
	 */
	@Nullable NodeName blockerOf(NodeName name) {
		int i = this.names.indexOf(name) - 1;
		while (i >= 0 && !name.isExclusive() && !this.names.get(i).isExclusive()) {
			i--;
		}
		return (i >= 0) ? this.names.get(i) : null;
	}

	/**
	 * Return the nodes that own the lock.
	 */
	List<NodeName> owners() {
		return this.names.subList(0, Math.min(this.names.size(), Math.max(1, leadingShared())));
	}

	private int leadingShared() {
		int shared = 0;
		while (shared < this.names.size() && !this.names.get(shared).isExclusive()) {
			shared++;
		}
		return shared;
	}

}
