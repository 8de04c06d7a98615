// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.core.task.SimpleAsyncTaskExecutor;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.LockKeeping;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.WaitingLine;

/**
 * Keeps locks in a relational database: PostgreSQL, MySQL, MariaDB, H2, or any other one
 * with {@code select ... for update}. The table must exist; {@link JdbcLockSchema} finds
 * the script that creates it.
 *
 * <p>
 * Leases expire by the clock of the database. No connection is held while a lock is held
 * or waited for, except one for messages on PostgreSQL while this JVM waits, and no
 * statement ever takes part in a transaction of the caller.
 *
 * <p>
 * Give the store connections that the application does not use. If it shares a pool with
 * the bodies of locks, bodies that occupy all connections make renewals fail, and so lose
 * their locks; and a body that waits for a lock in a transaction occupies a connection
 * that the current owner may need to release it. The store borrows connections for one
 * operation at a time, so a small pool suffices. With a second pool for renewals and
 * releases, these also go on while many threads acquire locks from a slow database. Let a
 * pool refuse a request after two or three seconds, also the first one: by default
 * HikariCP makes that wait until the server answers.
 */
public final class JdbcLockStore implements LockStore, AutoCloseable {

	private static final Set<LockMode> MODES = Collections.unmodifiableSet(EnumSet.allOf(LockMode.class));

	private final JvmId jvm = new JvmId();

	private final LockDatabase database;

	private final LockDatabase ownedDatabase;

	private final ExclusiveLocks exclusive;

	private final LockRows rows;

	private final ExclusiveLocks ownedExclusive;

	private final LockRows ownedRows;

	private final LeaseRenewals renewals;

	private final ReleaseSignal signal;

	private final IdleRows idle;

	private final WaitingLine line;

	private final LockInspection inspection;

	/** Locks in whose line somebody stood when they were granted to this JVM. */
	private final Set<LockKey> awaited = ConcurrentHashMap.newKeySet();

	private final Optional<LockKeeping> keeping;

	/**
	 * Create a store.
	 * @param dataSource the connections for all requests, which the application does not
	 * use itself; at least two on PostgreSQL
	 * @param settings the settings
	 */
	public JdbcLockStore(DataSource dataSource, JdbcLockSettings settings) {
		this(dataSource, settings, null);
	}

	/**
	 * Create a store that renews and releases locks on connections of their own, so that
	 * no number of waiters keeps a lock from being renewed.
	 * @param acquiring the connections for all requests except renewals and releases; at
	 * least two on PostgreSQL
	 * @param owned the connections for renewals and releases; at least two
	 * @param settings the settings
	 */
	public JdbcLockStore(DataSource acquiring, DataSource owned, JdbcLockSettings settings) {
		this(acquiring, owned, settings, null, SignalTimes.DEFAULTS);
	}

	JdbcLockStore(DataSource dataSource, JdbcLockSettings settings, @Nullable Dialect dialect) {
		this(dataSource, dataSource, settings, dialect, SignalTimes.DEFAULTS);
	}

	JdbcLockStore(DataSource acquiring, DataSource owned, JdbcLockSettings settings, @Nullable Dialect dialect,
			SignalTimes times) {
		LockDatabase database = new LockDatabase(acquiring, settings, dialect);
		this.database = database;
		LockDatabase ownedDatabase = (owned == acquiring) ? database : new LockDatabase(owned, settings, dialect);
		this.ownedDatabase = ownedDatabase;
		WaitedLocks waited = new WaitedLocks(times.waited());
		this.signal = new ReleaseSignal(database, settings, times, this.jvm, waited);
		this.exclusive = new ExclusiveLocks(database, waited);
		this.rows = new LockRows(database, this.jvm, waited, this.signal::released);
		this.ownedExclusive = new ExclusiveLocks(ownedDatabase, waited);
		this.ownedRows = new LockRows(ownedDatabase, this.jvm, waited, this.signal::released);
		this.renewals = new LeaseRenewals(ownedDatabase, this.ownedRows);
		this.idle = new IdleRows(database, settings.fenceRetention());
		this.line = new JdbcWaitingLine(database, this.rows, this.jvm, this.signal);
		this.inspection = new JdbcInspection(database, this.rows, this.jvm);
		this.keeping = Optional.of((key, owner, time) -> Answer.of(() -> tryKeep(key, owner, time)));
	}

	@Override
	public String address() {
		return this.database.address();
	}

	@Override
	public void setInstance(String name) {
		this.jvm.setInstance(name);
	}

	@Override
	public Set<LockMode> modes() {
		return MODES;
	}

	@Override
	public CompletionStage<?> connect() {
		SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("lock-connect-");
		threads.setDaemon(true);
		return CompletableFuture.allOf(Stream.of(this.database, this.ownedDatabase)
			.distinct()
			.map((database) -> CompletableFuture.runAsync(database::connect, threads))
			.toArray(CompletableFuture[]::new));
	}

	@Override
	public CompletionStage<AcquireResult> acquire(LeaseRequest request, boolean wait) {
		return Answer.of(() -> tryAcquire(request, wait));
	}

	private AcquireResult tryAcquire(LeaseRequest request, boolean inLine) {
		this.idle.deleteNowAndThen();
		AcquireResult attempt = this.exclusive.acquire(request, inLine);
		if (attempt != null) {
			return attempt;
		}
		return this.rows.changeOrCreate(request.key(), (state) -> {
			AcquireResult answer = state.acquire(this.jvm.get(), request.owner(), request.leaseTime(),
					inLine ? this.signal.pace() : 0);
			if (answer instanceof AcquireResult.Grant && !state.line().places().isEmpty()) {
				this.awaited.add(request.key());
			}
			return answer;
		});
	}

	@Override
	public List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
		return this.renewals.renew(requests);
	}

	@Override
	public CompletionStage<Boolean> release(LockKey key, OwnerToken owner) {
		return Answer.of(() -> tryRelease(key, owner));
	}

	private boolean tryRelease(LockKey key, OwnerToken owner) {
		// A release that has to tell a waiter looks at the row anyway
		if (!this.awaited.remove(key) && this.ownedExclusive.release(key, owner)) {
			return true;
		}
		return this.ownedRows.change(key, false, (state) -> state.release(this.jvm.get(), owner));
	}

	private boolean tryKeep(LockKey key, OwnerToken owner, Duration time) {
		this.awaited.remove(key);
		return this.ownedRows.change(key, false, (state) -> state.keep(owner, time));
	}

	@Override
	public Optional<LockKeeping> keeping() {
		return this.keeping;
	}

	@Override
	public Optional<LockInspection> inspection() {
		return Optional.of(this.inspection);
	}

	@Override
	public WaitingLine waitingLine() {
		return this.line;
	}

	ReleaseSignal signal() {
		return this.signal;
	}

	IdleRows idleRows() {
		return this.idle;
	}

	/**
	 * Stop the threads of this store and close its connection for messages. The sources
	 * of connections stay open.
	 */
	@Override
	public void close() {
		this.signal.close();
		this.idle.close();
	}

}
