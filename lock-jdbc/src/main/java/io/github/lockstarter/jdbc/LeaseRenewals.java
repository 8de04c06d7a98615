// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.QueryTimeoutException;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LeaseRequest;

/**
 * Extends leases, those of exclusive owners many at a time.
 */
final class LeaseRenewals {

	private static final int BATCH = 256;

	private final LockDatabase database;

	private final LockRows rows;

	private final LockedRows locked;

	LeaseRenewals(LockDatabase database, LockRows rows, LockedRows locked) {
		this.database = database;
		this.rows = rows;
		this.locked = locked;
	}

	List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
		List<Renewal> renewals = requests.stream().map(Renewal::new).toList();
		Map<Boolean, List<Renewal>> shared = renewals.stream()
			.collect(Collectors.partitioningBy((renewal) -> renewal.request.owner().mode() == LockMode.READ));
		shared.getOrDefault(true, List.of()).forEach(this::renewRow);
		shared.getOrDefault(false, List.of())
			.stream()
			.collect(Collectors.groupingBy((renewal) -> renewal.request.leaseTime()))
			.forEach(this::renewExclusive);
		return renewals.stream().<CompletionStage<Boolean>>map((renewal) -> renewal.answer).toList();
	}

	private void renewExclusive(Duration leaseTime, List<Renewal> renewals) {
		for (int from = 0; from < renewals.size(); from += BATCH) {
			renewBatch(leaseTime, renewals.subList(from, Math.min(from + BATCH, renewals.size())));
		}
	}

	private void renewBatch(Duration leaseTime, List<Renewal> batch) {
		try {
			answer(leaseTime, batch);
		}
		catch (QueryTimeoutException ex) {
			renewUnlocked(leaseTime, batch, ex);
		}
		catch (RuntimeException ex) {
			fail(batch, ex);
		}
	}

	/** Transactions that are about to commit may have locked some of the rows. */
	private void renewUnlocked(Duration leaseTime, List<Renewal> batch, QueryTimeoutException timeout) {
		try {
			Set<String> locked = this.locked.among(batch.stream().map(Renewal::rowKey).collect(Collectors.toSet()),
					timeout);
			List<Renewal> unlocked = batch.stream().filter((renewal) -> !locked.contains(renewal.rowKey())).toList();
			if (!unlocked.isEmpty()) {
				answer(leaseTime, unlocked);
			}
			fail(batch, timeout);
		}
		catch (RuntimeException ex) {
			fail(batch, ex);
		}
	}

	private void answer(Duration leaseTime, List<Renewal> batch) {
		Set<List<String>> held = held(leaseTime, batch);
		if (held == null) {
			batch.forEach(this::renewRow);
		}
		else {
			batch.forEach((renewal) -> renewal.answer.complete(held.contains(renewal.pair())));
		}
	}

	/** Those that have an answer keep it. */
	private static void fail(List<Renewal> batch, RuntimeException failure) {
		batch.forEach((renewal) -> renewal.answer.completeExceptionally(failure));
	}

	/**
	 * Extend leases.
	 * @return the pairs of row and owner that are in force, or {@code null} if the
	 * database cannot compute with its time
	 */
	private @Nullable Set<List<String>> held(Duration leaseTime, List<Renewal> batch) {
		Set<List<String>> pairs = batch.stream().map(Renewal::pair).collect(Collectors.toSet());
		List<List<String>> repeated = repeated(pairs);
		List<Object> parameters = new ArrayList<>(repeated.stream().map((pair) -> pair.get(0)).toList());
		repeated.forEach(parameters::addAll);
		return this.database.<@Nullable Set<List<String>>>autocommit((session, sql) -> {
			if (!sql.dialect().computesTime()) {
				return null;
			}
			if (!leaseTime.isZero()) {
				List<Object> all = new ArrayList<>(List.of(TimeUnit.MICROSECONDS.convert(leaseTime)));
				all.addAll(parameters);
				if (session.update(sql.renew(repeated.size()), all.toArray()) == pairs.size()) {
					return pairs;
				}
			}
			return new HashSet<>(session.all(sql.selectHeld(repeated.size()),
					(row) -> List.of(row.getString(1), row.getString(2)), parameters.toArray()));
		});
	}

	/**
	 * Return pairs, repeated up to a power of two, so that there are few different
	 * statements.
	 */
	private static List<List<String>> repeated(Set<List<String>> pairs) {
		List<List<String>> sorted = new ArrayList<>(pairs);
		sorted.sort((one, other) -> one.get(0).compareTo(other.get(0)));
		int size = Math.max(1, Integer.highestOneBit(2 * sorted.size() - 1));
		sorted.addAll(Collections.nCopies(size - sorted.size(), sorted.get(sorted.size() - 1)));
		return sorted;
	}

	private void renewRow(Renewal renewal) {
		LeaseRequest request = renewal.request;
		try {
			renewal.answer.complete(this.rows.change(request.key(), false,
					(state) -> state.renew(request.owner(), request.leaseTime())));
		}
		catch (RuntimeException ex) {
			renewal.answer.completeExceptionally(ex);
		}
	}

	/**
	 * A request and its answer.
	 */
	private static final class Renewal {

		private final LeaseRequest request;

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

	}

}
