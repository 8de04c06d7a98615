// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.RowKey;

/**
 * Extends leases, many at a time. A transaction that is about to commit may have locked
 * some of their rows: these are left to {@link BusyRows}.
 */
final class LeaseRenewals {

	private static final int BATCH = 256;

	private final LockDatabase database;

	private final BusyRows rows;

	LeaseRenewals(LockDatabase database, BusyRows rows) {
		this.database = database;
		this.rows = rows;
	}

	List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
		List<Renewal> renewals = requests.stream().map(Renewal::of).toList();
		renewals.stream()
			.collect(Collectors.groupingBy((renewal) -> renewal.request.leaseTime()))
			.forEach(this::renewAll);
		return renewals.stream().<CompletionStage<Boolean>>map((renewal) -> renewal.answer()).toList();
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
			renewal.answer().complete(state != null && Renewal.renew(renewal.request, state));
		});
	}

	private void renewBatch(Duration leaseTime, List<Renewal> batch) {
		List<Renewal> exclusive = batch.stream()
			.filter((renewal) -> renewal.request.owner().mode() != LockMode.READ)
			.toList();
		if (!exclusive.isEmpty() && extend(leaseTime, exclusive)) {
			exclusive.forEach((renewal) -> renewal.answer().complete(true));
		}
		List<Renewal> left = batch.stream().filter((renewal) -> !renewal.answer().isDone()).toList();
		if (!left.isEmpty()) {
			this.rows.changeAll(left.stream().<BusyRows.Change<?>>map(Renewal::change).toList());
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

	/** Those that have an answer keep it. */
	private static void fail(List<Renewal> renewals, RuntimeException failure) {
		renewals.forEach((renewal) -> renewal.answer().completeExceptionally(failure));
	}

	/**
	 * A request, and the change that it makes if one statement cannot extend its lease.
	 */
	private record Renewal(LeaseRequest request, BusyRows.Change<Boolean> change) {

		static Renewal of(LeaseRequest request) {
			return new Renewal(request, new BusyRows.Change<>(request.key(), false, (state) -> renew(request, state)));
		}

		private static boolean renew(LeaseRequest request, LockState state) {
			return state.renew(request.owner(), request.leaseTime());
		}

		String rowKey() {
			return RowKey.of(this.request.key());
		}

		List<String> pair() {
			return List.of(rowKey(), this.request.owner().value());
		}

		CompletableFuture<Boolean> answer() {
			return this.change.answer();
		}

	}

}
