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

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.RowKey;

/**
 * Extends leases, many at a time. Locks whose rows other transactions have locked come
 * last of all, so that they delay no other one.
 */
final class LeaseRenewals {

	private static final int BATCH = 256;

	private final LockDatabase database;

	private final LockRows rows;

	LeaseRenewals(LockDatabase database, LockRows rows) {
		this.database = database;
		this.rows = rows;
	}

	List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
		List<Renewal> renewals = requests.stream().map(Renewal::of).toList();
		renewals.stream()
			.collect(Collectors.groupingBy((renewal) -> renewal.request.leaseTime()))
			.forEach(this::renewAll);
		waitForRows(renewals.stream().filter((renewal) -> !renewal.answer().isDone()).toList());
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
			extendInRows(left);
		}
	}

	/**
	 * Extend leases whose rows have to be looked at, but leave out those whose rows are
	 * locked.
	 */
	private void extendInRows(List<Renewal> renewals) {
		Map<LockKey, List<Renewal>> byKey = renewals.stream()
			.collect(Collectors.groupingBy((renewal) -> renewal.request.key()));
		Map<LockKey, List<Renewal>> extended = this.rows.changeUnlocked(byKey.keySet(), List.of(),
				(key, state) -> byKey.getOrDefault(key, List.of())
					.stream()
					.filter((renewal) -> Renewal.renew(renewal.request, state))
					.toList());
		extended.forEach((key, those) -> byKey.getOrDefault(key, List.of())
			.forEach((renewal) -> renewal.answer.complete(those.contains(renewal))));
	}

	/** Only one of them waits in vain. */
	private void waitForRows(List<Renewal> locked) {
		try {
			locked.forEach((renewal) -> renewal.answer.complete(
					this.rows.change(renewal.request.key(), false, (state) -> Renewal.renew(renewal.request, state))));
		}
		catch (RuntimeException ex) {
			fail(locked, ex);
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

	private record Renewal(LeaseRequest request, CompletableFuture<Boolean> answer) {

		static Renewal of(LeaseRequest request) {
			return new Renewal(request, new CompletableFuture<>());
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

	}

}
