// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;

import io.github.lockstarter.benchmarks.servers.ServerAddress;
import io.github.lockstarter.benchmarks.servers.ServerKind;

/**
 * A transaction that reads how much there is of an item and writes one less, protected in
 * one of the ways that Spring applications have. To acquire the lock of an item is to
 * sell one piece of it.
 *
 * @param name its name in reports
 * @param fenced whether transactions under a lock are fenced
 * @param way sells one piece of an item
 */
record SaleTransaction(String name, boolean fenced, BiConsumer<StockDatabase, String> way) implements Competitor {

	/** A lock around the transaction, which the database does not know. */
	static final SaleTransaction LOCKED = new SaleTransaction("lock", false,
			(stock, item) -> stock.locked(item, () -> sell(stock, item, "")));

	private static final SaleTransaction UNPROTECTED = new SaleTransaction("no lock, updates are lost", false,
			(stock, item) -> sell(stock, item, ""));

	/** Each transaction claims the token of the lock. */
	private static final SaleTransaction FENCED = new SaleTransaction("lock, fenced transactions", true, LOCKED.way());

	/** The row is locked from the read on. */
	private static final SaleTransaction FOR_UPDATE = new SaleTransaction("no lock, SELECT FOR UPDATE", false,
			(stock, item) -> sell(stock, item, " for update"));

	/** The write checks that nobody has written since the read, as JPA does. */
	private static final SaleTransaction VERSION = new SaleTransaction("no lock, @Version", false, (stock, item) -> {
		boolean sold;
		do {
			sold = stock.inTransaction(() -> {
				int[] countAndVersion = stock.read(item, "");
				return stock.writeIfUnchanged(item, countAndVersion[0] - 1, countAndVersion[1]);
			});
		}
		while (!sold);
	});

	/**
	 * Return all ways.
	 */
	static List<Competitor> all() {
		return List.of(LOCKED, FENCED, UNPROTECTED, FOR_UPDATE, VERSION);
	}

	private static void sell(StockDatabase stock, String item, String lockClause) {
		stock.inTransaction(() -> stock.write(item, stock.read(item, lockClause)[0] - 1));
	}

	@Override
	public Set<ServerKind> servers() {
		return Set.of(ServerKind.POSTGRESQL, ServerKind.MARIADB);
	}

	@Override
	public Set<Ability> abilities() {
		return Set.of(Ability.SELLS);
	}

	@Override
	public LockClient connect(ServerAddress server, long leaseMillis) {
		StockDatabase stock = new StockDatabase(PooledConnections.ofPeer(server), this.fenced);
		return new LockClient() {

			@Override
			public Runnable lock(String item) {
				stock.ensureItem(item);
				SaleTransaction.this.way.accept(stock, item);
				return () -> {
				};
			}

			@Override
			public void close() {
				stock.close();
			}

		};
	}

}
