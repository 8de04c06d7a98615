// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

import io.r2dbc.spi.Connection;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.transaction.reactive.TransactionSynchronizationManager;

import io.github.lockstarter.FencedLease;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockMode;

/**
 * The claims of a reactive transaction. Several transactions may run under a lease at the
 * same time, because its owner is a part of a chain and not a thread.
 *
 * @param transaction identifies the transaction
 * @param table the table in the database of the transaction
 * @param leases the leases whose tokens it claims
 */
record R2dbcClaims(Object transaction, R2dbcFenceTable table, List<FencedLease> leases) {

	/**
	 * Return the claims of a transaction that begins, except those that an outer one has
	 * made. The outer one keeps later owners waiting until it ends, which is after this
	 * one.
	 */
	static R2dbcClaims of(Object transaction, R2dbcFenceTable table, List<FencedLease> leases,
			TransactionSynchronizationManager context) {
		List<R2dbcClaims> open = open(context, table);
		List<FencedLease> unclaimed = leases.stream()
			.filter((each) -> !isClaimed(each.lease(), (open != null) ? open : List.of()))
			.toList();
		return new R2dbcClaims(transaction, table, unclaimed);
	}

	private static boolean isClaimed(Lease lease, List<R2dbcClaims> open) {
		lease.ensureHeld();
		Long claimed = open.stream()
			.map((each) -> each.claimed(Claims.keyOf(lease)))
			.filter(Objects::nonNull)
			.max(Long::compare)
			.orElse(null);
		if (claimed != null && claimed > lease.fencingToken()) {
			throw Claims.refusal(lease);
		}
		return claimed != null;
	}

	private @Nullable Long claimed(String key) {
		return this.leases.stream()
			.map(FencedLease::lease)
			.filter((lease) -> Claims.keyOf(lease).equals(key))
			.map(Lease::fencingToken)
			.findFirst()
			.orElse(null);
	}

	/**
	 * Let inner transactions know of these claims.
	 */
	void open(TransactionSynchronizationManager context) {
		List<R2dbcClaims> open = open(context, this.table);
		if (open == null) {
			open = new CopyOnWriteArrayList<>();
			context.bindResource(this.table, open);
		}
		open.add(this);
	}

	/**
	 * Forget the claims of a transaction that has ended.
	 */
	static void forget(Object transaction, R2dbcFenceTable table, TransactionSynchronizationManager context) {
		List<R2dbcClaims> open = open(context, table);
		if (open != null && open.removeIf((each) -> each.transaction == transaction) && open.isEmpty()) {
			context.unbindResource(table);
		}
	}

	@SuppressWarnings("unchecked")
	private static @Nullable List<R2dbcClaims> open(TransactionSynchronizationManager context, R2dbcFenceTable table) {
		return (List<R2dbcClaims>) context.getResource(table);
	}

	/**
	 * Claim in transactions of their own, so that readers and parallel transactions of
	 * the same lease need not wait for this one.
	 * @param commit commits and begins again
	 * @param rollBack rolls back and begins again
	 */
	Mono<Void> claimAhead(Connection connection, Mono<Void> commit, Mono<Void> rollBack) {
		R2dbcFenceStatements statements = this.table.statements(connection);
		return Flux.fromIterable(this.leases)
			.map(FencedLease::lease)
			.concatMap(
					(lease) -> statements.claimAhead(Claims.keyOf(lease), Claims.tokenAhead(lease), commit, rollBack))
			.then();
	}

	/**
	 * Claim as the first statements of the transaction.
	 */
	Mono<Void> claim(Connection connection) {
		R2dbcFenceStatements statements = this.table.statements(connection);
		return Flux.fromIterable(this.leases)
			.map(FencedLease::lease)
			.concatMap((lease) -> claim(lease, statements))
			.then();
	}

	private static Mono<Void> claim(Lease lease, R2dbcFenceStatements statements) {
		String key = Claims.keyOf(lease);
		Mono<Boolean> claim = (lease.mode() == LockMode.READ) ? statements.check(key, lease.fencingToken())
				: statements.claimShared(key, lease.fencingToken());
		return claim.flatMap((successful) -> successful ? Mono.empty() : Mono.error(Claims.refusal(lease)));
	}

}
