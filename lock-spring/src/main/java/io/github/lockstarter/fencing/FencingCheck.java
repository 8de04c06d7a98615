// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.util.Collection;
import java.util.function.BiPredicate;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.context.SmartLifecycle;

/**
 * Ends the start of an application that fences transactions but cannot. Migrations and
 * the check of all annotations come before.
 */
public final class FencingCheck implements SmartLifecycle {

	private static final Log logger = LogFactory.getLog(FencingCheck.class);

	private final TransactionFences fences;

	private final FenceTablePreparation preparation;

	private final R2dbcFenceTablePreparation reactivePreparation;

	private final BiPredicate<@Nullable FenceTable, Boolean> need;

	private volatile boolean running;

	/**
	 * Create a check.
	 * @param fences the fences of all transaction managers
	 * @param preparation makes sure that a table exists
	 * @param reactivePreparation the same for reactive transactions
	 * @param need whether the locks need a table, given whether the transactions of all
	 * locks are fenced or those of some annotations only. There is no table if the
	 * transactions are reactive
	 */
	public FencingCheck(TransactionFences fences, FenceTablePreparation preparation,
			R2dbcFenceTablePreparation reactivePreparation, BiPredicate<@Nullable FenceTable, Boolean> need) {
		this.fences = fences;
		this.preparation = preparation;
		this.reactivePreparation = reactivePreparation;
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
		if (all) {
			refuse(this.fences.obstacles());
		}
		boolean any = this.need.test(null, all);
		for (FenceTable table : this.fences.tables()) {
			if (this.need.test(table, all) || any && this.fences.isOfJta(table)) {
				prepare(table);
			}
		}
		if (any) {
			if (this.fences.tables().isEmpty() && this.fences.reactiveTables().isEmpty()) {
				refuse(this.fences.obstacles());
			}
			refuse(this.fences.reactiveObstacles());
			this.fences.reactiveTables().forEach(this.reactivePreparation::prepare);
		}
	}

	private void prepare(FenceTable table) {
		if (table.isRouted()) {
			logger.info("Transactions are fenced in several databases, because their DataSource chooses between them."
					+ " Each of them needs the table '" + table.name() + "'");
		}
		else {
			this.preparation.prepare(table);
		}
	}

	private static void refuse(Collection<FencingNotPossibleException> obstacles) {
		obstacles.stream().findFirst().ifPresent((obstacle) -> {
			throw obstacle;
		});
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
