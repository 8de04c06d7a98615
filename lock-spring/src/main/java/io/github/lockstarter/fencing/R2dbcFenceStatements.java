// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.util.Objects;

import io.r2dbc.spi.Connection;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.Readable;
import io.r2dbc.spi.Result;
import io.r2dbc.spi.Statement;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.r2dbc.core.binding.BindMarkers;
import org.springframework.r2dbc.core.binding.BindMarkersFactoryResolver;

/**
 * The counterpart of {@link FenceStatements} for reactive transactions.
 *
 * @param connection the connection of the transaction
 * @param table the table of the claims
 * @param sql the statements
 */
record R2dbcFenceStatements(Connection connection, R2dbcFenceTable table, FenceSql sql) {

	/** Smaller than all tokens. */
	private static final long ABSENT = -1;

	/**
	 * Claim a token. Waits until transactions that have claimed another one have ended.
	 * @return whether no larger token is claimed
	 */
	Mono<Boolean> claim(String key, long token) {
		String claim = this.sql.claim();
		if (claim == null) {
			return claimInSteps(key, token, false);
		}
		if (this.sql.reportsToken()) {
			return first(claim, key, token).map((claimed) -> claimed == token);
		}
		Mono<Long> count = change(claim, key, token);
		return this.sql.countsClaims() ? count.map((changed) -> changed > 0)
				: count.then(first(this.sql.selectForUpdate(), key)).map((claimed) -> claimed == token);
	}

	private Mono<Boolean> claimInSteps(String key, long token, boolean hidden) {
		return change(this.sql.update(), token, key, token)
			.flatMap((changed) -> (changed > 0) ? Mono.just(true) : first(this.sql.selectForUpdate(), key).flatMap(
					(claimed) -> (claimed > token) ? Mono.just(false) : insertOrRepeat(key, token, claimed, hidden)));
	}

	private Mono<Boolean> insertOrRepeat(String key, long token, long claimed, boolean hidden) {
		Mono<Boolean> inserted = (claimed == ABSENT) ? insert(key, token) : Mono.just(false);
		return inserted.flatMap((done) -> {
			if (done) {
				return Mono.just(true);
			}
			return (claimed == ABSENT && hidden) ? Mono.error(hidden()) : claimInSteps(key, token, claimed == ABSENT);
		});
	}

	/**
	 * A row exists that the transaction does not see, as its snapshot is older.
	 */
	private static CannotAcquireLockException hidden() {
		return new CannotAcquireLockException(Claims.TASK + ": the transaction began before another owner's claim");
	}

	/**
	 * Claim a token for a transaction that runs at the same time as others with that
	 * token. It waits only for those with another one, provided that the token
	 * {@linkplain #claimAhead is claimed} already.
	 * @return whether no larger token is claimed
	 */
	Mono<Boolean> claimShared(String key, long token) {
		return first(this.sql.selectShared(), key)
			.flatMap((claimed) -> (claimed < token) ? claim(key, token) : Mono.just(claimed == token));
	}

	/**
	 * Claim a token in a transaction of its own unless that was done before, so that
	 * those that share the row need not write it and wait for each other.
	 * @param token the token, or {@link Claims#UNCLAIMED} to create the row for readers
	 * @param commit commits and begins again
	 * @param rollBack rolls back and begins again
	 */
	Mono<Void> claimAhead(String key, long token, Mono<Void> commit, Mono<Void> rollBack) {
		Mono<Boolean> claim = (token == Claims.UNCLAIMED) ? insert(key, token) : claim(key, token);
		return first(this.sql.select(), key).flatMap((claimed) -> {
			// SERIALIZABLE may lock what is not there, so that two inserts deadlock
			Mono<Void> unlock = (claimed == ABSENT) ? commit : Mono.empty();
			return unlock.then((claimed < token) ? claim : Mono.just(true));
		})
			.then(commit)
			// Another transaction was quicker, and the next statement looks at the row
			.onErrorResume(R2dbcFenceStatements::isConflict, (ex) -> rollBack);
	}

	private static boolean isConflict(Throwable failure) {
		Throwable cause = (failure instanceof DataAccessException) ? failure.getCause() : failure;
		return cause instanceof R2dbcException error && Claims.isConflict(error.getErrorCode(), error.getSqlState());
	}

	/**
	 * Keep later owners from claiming until the transaction has ended.
	 * @return whether no larger token is claimed
	 */
	Mono<Boolean> check(String key, long token) {
		return check(key, token, false);
	}

	private Mono<Boolean> check(String key, long token, boolean hidden) {
		return first(this.sql.selectShared(), key)
			.flatMap((claimed) -> (claimed != ABSENT) ? Mono.just(claimed <= token) : hidden ? Mono.error(hidden())
					// There must be a row for a later owner to wait for
					: insert(key, Claims.UNCLAIMED).flatMap((created) -> check(key, token, !created)));
	}

	/**
	 * Fail if the table cannot be read.
	 */
	Mono<Void> require() {
		return first("select token, claimed_at, lock_key from " + this.table.name() + " where 1 = 0").then();
	}

	/**
	 * Return whether an H2 database has no file.
	 */
	Mono<Boolean> isInMemory() {
		return first("select count(*) from (select 1) where database_path() is null").map((rows) -> rows > 0);
	}

	private Mono<Boolean> insert(String key, long token) {
		return change(this.sql.insertIfAbsent(), key, token).map((changed) -> changed > 0)
			.onErrorReturn(DuplicateKeyException.class, false);
	}

	private Mono<Long> change(String statement, Object... parameters) {
		return execute(statement, parameters).flatMap(Result::getRowsUpdated)
			.reduce(0L, Long::sum)
			.onErrorMap(R2dbcException.class, this.table::translate);
	}

	private Mono<Long> first(String statement, Object... parameters) {
		// Reads to the end, because a cancelled result disturbs some drivers
		return execute(statement, parameters).flatMap((result) -> result.map(this::firstColumn))
			.reduce((first, next) -> first)
			.defaultIfEmpty(ABSENT)
			.onErrorMap(R2dbcException.class, this.table::translate);
	}

	private Long firstColumn(Readable row) {
		return Objects.requireNonNull(row.get(0, Long.class));
	}

	private Flux<Result> execute(String statement, Object... parameters) {
		return Flux.<Result>defer(() -> {
			Statement prepared = this.connection.createStatement(withMarkers(statement));
			for (int i = 0; i < parameters.length; i++) {
				prepared.bind(i, parameters[i]);
			}
			return Flux.from(prepared.execute());
		});
	}

	/**
	 * Each database has parameters of its own.
	 */
	private String withMarkers(String statement) {
		BindMarkers markers = BindMarkersFactoryResolver.resolve(this.table.connectionFactory()).create();
		StringBuilder text = new StringBuilder();
		for (String part : statement.split("\\?", -1)) {
			text.append(text.isEmpty() ? "" : markers.next().getPlaceholder()).append(part);
		}
		return text.toString();
	}

}
