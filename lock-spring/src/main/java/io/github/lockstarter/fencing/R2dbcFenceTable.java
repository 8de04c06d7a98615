// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.R2dbcException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import reactor.core.publisher.Mono;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.r2dbc.BadSqlGrammarException;
import org.springframework.r2dbc.connection.ConnectionFactoryUtils;

/**
 * The counterpart of {@link FenceTable} for reactive transactions. Both may share the
 * same table. Idle rows are not deleted.
 *
 * @param connectionFactory the connections of the transactions
 * @param name the name of the table, with its schema if the database needs it
 */
public record R2dbcFenceTable(ConnectionFactory connectionFactory, String name) {

	private static final Log logger = LogFactory.getLog(R2dbcFenceTable.class);

	/** A start waits no longer for a database that does not answer. */
	private static final Duration PATIENCE = Duration.ofSeconds(10);

	/**
	 * Create a table of the default name.
	 * @param connectionFactory the connections of the transactions
	 */
	public R2dbcFenceTable(ConnectionFactory connectionFactory) {
		this(connectionFactory, FenceTable.DEFAULT_NAME);
	}

	/**
	 * Check that the table exists and can be read. Blocks.
	 * @throws FenceTableException if not
	 * @throws DataAccessException if the database cannot be asked
	 */
	public void require() {
		ask((connection) -> statements(connection).require().thenReturn(true));
	}

	/**
	 * Check that the table exists, as far as the database can be asked. Blocks.
	 * @throws FenceTableException if not
	 */
	public void requireIfReachable() {
		try {
			require();
		}
		catch (FenceTableException ex) {
			throw ex;
		}
		catch (DataAccessException ex) {
			logger.warn("The database of fenced transactions cannot be asked (" + ex.getMessage()
					+ "). They fail until it can be, and has the table '" + this.name + "'");
		}
	}

	/**
	 * Return the platform of the database, as {@link FenceSchema#platform} does. Blocks.
	 */
	public String platform() {
		return ask((connection) -> Mono.just(dialect(connection).platform()));
	}

	/**
	 * Return whether the database is one in the memory of this JVM. Blocks.
	 */
	public boolean isEmbedded() {
		return ask((connection) -> (dialect(connection) == FenceDialect.H2) ? statements(connection).isInMemory()
				: Mono.just(false));
	}

	private <T> T ask(Function<Connection, Mono<T>> question) {
		return Mono.usingWhen(this.connectionFactory.create(), question, Connection::close)
			.timeout(PATIENCE)
			.onErrorMap(R2dbcException.class, this::translate)
			.onErrorMap(TimeoutException.class,
					(ex) -> new QueryTimeoutException("There was no answer within " + PATIENCE.toSeconds() + " s", ex))
			.blockOptional()
			.orElseThrow();
	}

	/**
	 * Return the statements for a transaction.
	 */
	R2dbcFenceStatements statements(Connection connection) {
		return new R2dbcFenceStatements(connection, this, new FenceSql(this.name, dialect(connection)));
	}

	private FenceDialect dialect(Connection connection) {
		FenceDialect dialect = FenceDialect.of(connection.getMetadata().getDatabaseProductName());
		// The product of some builds of MySQL is "(Ubuntu)" or "Source distribution"
		return (dialect != FenceDialect.GENERIC) ? dialect
				: FenceDialect.of(this.connectionFactory.getMetadata().getName());
	}

	DataAccessException translate(R2dbcException ex) {
		DataAccessException conflict = Claims.conflict(ex.getErrorCode(), ex);
		if (conflict != null) {
			return conflict;
		}
		DataAccessException translated = ConnectionFactoryUtils.convertR2dbcException(Claims.TASK, null, ex);
		return (translated instanceof BadSqlGrammarException) ? new FenceTableException(this.name, ex) : translated;
	}

	@Override
	public String toString() {
		return this.name;
	}

}
