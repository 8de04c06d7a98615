// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.util.CustomizableThreadCreator;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LeaseRequest;

/**
 * Extends leases, many at a time. A transaction that is about to commit may have locked
 * some of their rows: these are left out, and renewed by threads that may wait.
 */
final class LeaseRenewals implements AutoCloseable {

	private static final int BATCH = 256;

	/** Each of these threads occupies a connection while it waits for a row. */
	private static final int WAITING_THREADS = 2;

	private static final long LOOK_MILLIS = 20;

	private static final long IDLE_SECONDS = 10;

	private final ThreadPoolExecutor waiting = new ThreadPoolExecutor(0, WAITING_THREADS, IDLE_SECONDS,
			TimeUnit.SECONDS, new SynchronousQueue<>(), threads());

	private final ScheduledThreadPoolExecutor looks = new ScheduledThreadPoolExecutor(1, threads());

	private final LockDatabase database;

	private final LockRows rows;

	private final LockRows waitingRows;

	private final long patience;

	/**
	 * Create the renewals of a store.
	 * @param rows never waits for a row if the database permits it
	 * @param waitingRows waits for rows, on connections that renewals can do without
	 * @param patience after which time the renewal of a locked row fails
	 */
	LeaseRenewals(LockDatabase database, LockRows rows, LockRows waitingRows, Duration patience) {
		this.database = database;
		this.rows = rows;
		this.waitingRows = waitingRows;
		this.patience = patience.toNanos();
		this.looks.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
		this.looks.allowCoreThreadTimeOut(true);
	}

	private static ThreadFactory threads() {
		CustomizableThreadCreator creator = new CustomizableThreadCreator("lock-row-");
		creator.setDaemon(true);
		return creator::createThread;
	}

	List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
		List<Renewal> renewals = requests.stream().map(Renewal::new).toList();
		renewals.stream()
			.collect(Collectors.groupingBy((renewal) -> renewal.request.leaseTime()))
			.forEach(this::renewAll);
		return renewals.stream().<CompletionStage<Boolean>>map((renewal) -> renewal.answer).toList();
	}

	private void renewAll(Duration leaseTime, List<Renewal> renewals) {
		for (int from = 0; from < renewals.size(); from += BATCH) {
			List<Renewal> batch = renewals.subList(from, Math.min(from + BATCH, renewals.size()));
			try {
				if (leaseTime.isZero()) {
					check(batch);
				}
				else {
					renewBatch(leaseTime, batch);
				}
			}
			catch (RuntimeException ex) {
				fail(batch, ex);
			}
		}
	}

	/** A lease that must not be extended is only read. */
	private void check(List<Renewal> batch) {
		Map<String, LockState> states = this.database.autocommit((session, sql) -> {
			Map<String, LockState> read = new HashMap<>();
			Object[] rowKeys = SqlSession.repeated(batch.stream().map(Renewal::rowKey).distinct().toList()).toArray();
			session.all(sql.select(rowKeys.length),
					(row) -> read.put(row.getString(7), LockState.read(row, sql.dialect())), rowKeys);
			return read;
		});
		batch.forEach((renewal) -> {
			LockState state = states.get(renewal.rowKey());
			renewal.answer.complete(state != null && renewal.isDoneBy(state));
		});
	}

	private void renewBatch(Duration leaseTime, List<Renewal> batch) {
		List<Renewal> exclusive = batch.stream()
			.filter((renewal) -> renewal.request.owner().mode() != LockMode.READ)
			.toList();
		if (!exclusive.isEmpty() && extend(leaseTime, exclusive)) {
			exclusive.forEach((renewal) -> renewal.answer.complete(true));
		}
		List<Renewal> left = batch.stream().filter((renewal) -> !renewal.answer.isDone()).toList();
		if (!left.isEmpty()) {
			renewRows(left);
		}
	}

	/**
	 * Extend leases of exclusive owners with one statement.
	 * @return whether all of them were extended
	 */
	private boolean extend(Duration leaseTime, List<Renewal> exclusive) {
		List<List<String>> pairs = exclusive.stream().map(Renewal::pair).distinct().toList();
		List<List<String>> repeated = SqlSession.repeated(pairs);
		List<Object> parameters = new ArrayList<>(List.of(TimeUnit.MICROSECONDS.convert(leaseTime)));
		repeated.forEach((pair) -> parameters.add(pair.get(0)));
		repeated.forEach(parameters::addAll);
		return this.database.autocommit((session, sql) -> sql.skipsLocked()
				&& session.update(sql.renew(repeated.size()), parameters.toArray()) == pairs.size());
	}

	private void renewRows(List<Renewal> renewals) {
		Map<LockKey, List<Renewal>> locks = renewals.stream()
			.collect(Collectors.groupingBy((renewal) -> renewal.request.key()));
		try {
			Map<LockKey, Set<Renewal>> held = this.rows.changeUnlocked(locks.keySet(), Set.of(),
					(key, state) -> locks.getOrDefault(key, List.of())
						.stream()
						.filter((renewal) -> renewal.isDoneBy(state))
						.collect(Collectors.toSet()));
			List<Renewal> locked = new ArrayList<>();
			locks.forEach((key, all) -> {
				Set<Renewal> renewed = held.get(key);
				if (renewed == null) {
					locked.addAll(all);
				}
				else {
					all.forEach((renewal) -> renewal.answer.complete(renewed.contains(renewal)));
				}
			});
			renewLater(locked);
		}
		catch (QueryTimeoutException ex) {
			if (this.database.skipsLocked()) {
				throw ex;
			}
			// A locked row should not keep the others from being renewed
			renewals.forEach((renewal) -> renewRow(this.rows, renewal));
		}
	}

	/**
	 * Wait for rows, or where no thread is left for that, look at them again soon.
	 */
	private void renewLater(List<Renewal> locked) {
		List<Renewal> again = new ArrayList<>();
		for (Renewal renewal : locked) {
			try {
				this.waiting.execute(() -> renewRow(this.waitingRows, renewal));
			}
			catch (RejectedExecutionException ex) {
				again.add(renewal);
			}
		}
		if (!again.isEmpty()) {
			this.looks.schedule(() -> renewAgain(again), LOOK_MILLIS, TimeUnit.MILLISECONDS);
		}
	}

	private void renewAgain(List<Renewal> renewals) {
		try {
			Map<Boolean, List<Renewal>> late = renewals.stream()
				.collect(Collectors.partitioningBy((renewal) -> System.nanoTime() - renewal.since > this.patience));
			// The watchdog tries these again
			fail(late.getOrDefault(true, List.of()),
					new CannotAcquireLockException("A transaction has locked the row of the lock"));
			List<Renewal> left = late.getOrDefault(false, List.of());
			if (!left.isEmpty()) {
				renewRows(left);
			}
		}
		catch (RuntimeException ex) {
			fail(renewals, ex);
		}
	}

	/** Those that have an answer keep it. */
	private static void fail(List<Renewal> renewals, RuntimeException failure) {
		renewals.forEach((renewal) -> renewal.answer.completeExceptionally(failure));
	}

	private static void renewRow(LockRows rows, Renewal renewal) {
		try {
			renewal.answer.complete(rows.change(renewal.request.key(), false, renewal::isDoneBy));
		}
		catch (RuntimeException ex) {
			renewal.answer.completeExceptionally(ex);
		}
	}

	@Override
	public void close() {
		this.waiting.shutdown();
		this.looks.shutdown();
	}

	/**
	 * A request and its answer.
	 */
	private static final class Renewal {

		private final LeaseRequest request;

		private final long since = System.nanoTime();

		private final CompletableFuture<Boolean> answer = new CompletableFuture<>();

		Renewal(LeaseRequest request) {
			this.request = request;
		}

		String rowKey() {
			return RowKey.of(this.request.key());
		}

		List<String> pair() {
			return List.of(rowKey(), this.request.owner().value());
		}

		boolean isDoneBy(LockState state) {
			return state.renew(this.request.owner(), this.request.leaseTime());
		}

	}

}
