// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.util.function.BiPredicate;

import org.jspecify.annotations.Nullable;

import org.springframework.context.SmartLifecycle;

/**
 * Ends the start of an application that fences transactions but cannot. Migrations and
 * the check of all annotations come before.
 */
public final class FencingCheck implements SmartLifecycle {

	private final TransactionFences fences;

	private final FenceTablePreparation preparation;

	private final BiPredicate<@Nullable FenceTable, Boolean> need;

	private volatile boolean running;

	/**
	 * Create a check.
	 * @param fences the fences of all transaction managers
	 * @param preparation makes sure that a table exists
	 * @param need whether the locks need a table, given whether the transactions of all
	 * locks are fenced or those of some annotations only; without a table, whether any
	 * table may be needed
	 */
	public FencingCheck(TransactionFences fences, FenceTablePreparation preparation,
			BiPredicate<@Nullable FenceTable, Boolean> need) {
		this.fences = fences;
		this.preparation = preparation;
		this.need = need;
	}

	/**
	 * Check all transaction managers and tables.
	 * @throws FencingNotPossibleException if a manager's transactions cannot be fenced
	 */
	@Override
	public void start() {
		this.running = true;
		this.fences.fenceEarlyManagers();
		boolean all = this.fences.settings().transactions();
		for (FenceTable table : this.fences.tables()) {
			if (this.need.test(table, all)) {
				this.preparation.prepare(table);
			}
		}
		if (this.fences.tables().isEmpty() && this.need.test(null, all)) {
			this.fences.obstacles().stream().findFirst().ifPresent((obstacle) -> {
				throw obstacle;
			});
		}
	}

	@Override
	public void stop() {
		this.running = false;
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	/**
	 * Before anything that might begin a transaction.
	 */
	@Override
	public int getPhase() {
		return Integer.MIN_VALUE;
	}

}
