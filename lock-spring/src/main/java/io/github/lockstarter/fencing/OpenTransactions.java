// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionExecution;

/**
 * The fenced transactions of the current thread in one database, whichever manager began
 * them. To wait for one of them would be to wait for itself.
 */
final class OpenTransactions {

	/** The innermost one last. */
	private final ThreadLocal<@Nullable List<FencedTransaction>> open = new ThreadLocal<>();

	void add(FencedTransaction transaction) {
		List<FencedTransaction> open = this.open.get();
		if (open == null) {
			open = new ArrayList<>(2);
			this.open.set(open);
		}
		// Spring tells no listener of a commit that failed early
		open.removeIf(FencedTransaction::isCompleted);
		open.add(transaction);
	}

	void remove(TransactionExecution execution) {
		List<FencedTransaction> open = this.open.get();
		if (open != null) {
			open.removeIf((each) -> each.isOf(execution));
		}
	}

	/**
	 * Return what the transactions have claimed for a lock in the database of one.
	 */
	List<Long> claims(String key, FencedTransaction transaction) {
		List<FencedTransaction> open = this.open.get();
		return (open == null) ? List.of()
				: open.stream()
					.filter((each) -> !each.isCompleted() && each.isBeside(transaction))
					.map((each) -> each.claim(key))
					.filter(Objects::nonNull)
					.toList();
	}

}
