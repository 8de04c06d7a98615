// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.util.function.BooleanSupplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextRefreshedEvent;

/**
 * Ends the start of an application that fences transactions but cannot. Migrations and
 * the check of all annotations come before.
 */
public final class FencingCheck implements SmartLifecycle, ApplicationListener<ContextRefreshedEvent> {

	private static final Log logger = LogFactory.getLog(FencingCheck.class);

	private final TransactionFences fences;

	private final FenceTablePreparation preparation;

	private final BooleanSupplier annotated;

	private volatile boolean running;

	/**
	 * Create a check.
	 * @param fences the fences of all transaction managers
	 * @param preparation makes sure that a table exists
	 * @param annotated whether an annotation asks for fenced transactions
	 */
	public FencingCheck(TransactionFences fences, FenceTablePreparation preparation, BooleanSupplier annotated) {
		this.fences = fences;
		this.preparation = preparation;
		this.annotated = annotated;
	}

	/**
	 * Check all transaction managers and tables.
	 * @throws FencingNotPossibleException if a manager's transactions cannot be fenced
	 */
	@Override
	public void start() {
		this.running = true;
		this.fences.fenceEarlyManagers();
		this.fences.warnOfUnknownManagers();
		check();
	}

	/**
	 * Check a child context, whose locks are those of this one.
	 */
	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		if (this.fences.fenceChild(event.getApplicationContext().getAutowireCapableBeanFactory())) {
			check();
		}
	}

	@Override
	public boolean supportsAsyncExecution() {
		return false;
	}

	private void check() {
		FencingSettings settings = this.fences.settings();
		boolean annotated = this.annotated.getAsBoolean();
		for (FenceTable table : this.fences.tables()) {
			// Asked in any case, so that no transaction has to ask the database
			if (settings.isFenced(table.dataSource()) || annotated) {
				this.preparation.prepare(table);
			}
		}
		if (this.fences.tables().isEmpty() && (annotated || settings.transactions())) {
			this.fences.obstacles().stream().findFirst().ifPresent((obstacle) -> {
				throw obstacle;
			});
			if (!this.fences.hasManagers()) {
				// A child context may still bring one
				logger.warn("There is no transaction manager bean, so nothing is fenced, although "
						+ (settings.transactions()
								? "distributed-lock.fencing.transactions is true (the field 'transactions' of"
										+ " FencingSettings)"
								: "a @DistributedLock has transactionFencing = ON")
						+ ". Declare one, such as the JdbcTransactionManager that Spring Boot declares for a DataSource"
						+ " bean with spring-boot-starter-jdbc; or do not ask for the fence, and "
						+ FencingNotPossibleException.BY_HAND);
			}
		}
		this.fences.warnOfObstacles();
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
