// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.sql.SQLException;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;

/**
 * Connections that lead to the database of the locks.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockPoolsTests {

	private static final String URL = "jdbc:h2:mem:pools";

	private final LockPools pools = new LockPools(new DriverManagerDataSource(URL), 1);

	/** Its pool has no other one. */
	@Test
	void theConnectionOfATransactionIsAsked(CapturedOutput output) {
		try (HikariDataSource pool = new HikariDataSource(); LockPools pools = this.pools) {
			pool.setDataSourceClassName("org.h2.jdbcx.JdbcDataSource");
			pool.addDataSourceProperty("url", URL);
			pool.setMaximumPoolSize(1);
			pool.setConnectionTimeout(250);
			assertThat(new TransactionTemplate(new JdbcTransactionManager(pool))
				.<Boolean>execute((status) -> pools.isFor(pool))).isTrue();
		}
		assertThat(output).doesNotContain("unknown whether");
	}

	@ParameterizedTest
	@ValueSource(classes = { SQLException.class, IllegalStateException.class })
	void aDatabaseThatCannotBeAskedIsWarnedOfOnce(Class<? extends Exception> failure, CapturedOutput output)
			throws Exception {
		DataSource other = mock();
		given(other.getConnection()).willThrow(failure);
		try (LockPools pools = this.pools) {
			assertThat(pools.isFor(other) || pools.isFor(other)).isFalse();
		}
		verify(other).getConnection();
		assertThat(output).containsOnlyOnce("are not fenced by default until the next start, because it is unknown");
	}

}
