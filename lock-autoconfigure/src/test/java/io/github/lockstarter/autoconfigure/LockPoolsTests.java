// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;

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

	private final LockPools pools = new LockPools(new DriverManagerDataSource(URL), 1, "distributed_lock");

	/** Addresses of one database may differ in more than this one does. */
	@Test
	void theTableOfTheLocksIsSeenThroughAnotherAddressAndNoRowIsLeft(CapturedOutput output) {
		DataSource same = new DriverManagerDataSource(URL + ";IGNORECASE=TRUE");
		DataSource other = new DriverManagerDataSource("jdbc:h2:mem:elsewhere");
		try (LockPools pools = this.pools) {
			createTable(pools);
			assertThat(pools.isFor(same)).isTrue();
			assertThat(pools.isFor(other)).isFalse();
			assertThat(rows(pools)).isZero();
		}
		assertThat(output).contains("of the DataSource 'jdbc:h2:mem:elsewhere' are not fenced by default")
			.doesNotContain("WARN");
	}

	private static void createTable(LockPools pools) {
		JdbcClient.create(pools.acquiring())
			.sql("create table distributed_lock (lock_key varchar(255), expires_at bigint, fence bigint)")
			.update();
	}

	private static int rows(LockPools pools) {
		return JdbcClient.create(pools.acquiring())
			.sql("select count(*) from distributed_lock")
			.query(Integer.class)
			.single();
	}

	@ParameterizedTest
	@ValueSource(classes = { HikariDataSource.class, SimpleDriverDataSource.class })
	void aNewConnectionHasTheCredentialsThatTheApplicationHasByThen(Class<? extends DataSource> type) throws Exception {
		String url = "jdbc:h2:mem:" + type.getSimpleName();
		DataSource application = DataSourceBuilder.create()
			.type(type)
			.url(url)
			.username("shop")
			.password("old")
			.build();
		try (LockPools rotated = new LockPools(application, 2, "distributed_lock");
				Connection first = rotated.acquiring().getConnection()) {
			first.createStatement().execute("alter user shop set password 'new'");
			BeanWrapper settings = PropertyAccessorFactory.forBeanPropertyAccess(application);
			settings.setPropertyValue("password", "new");
			try (Connection acquiring = rotated.acquiring().getConnection();
					Connection owned = rotated.owned().getConnection()) {
				assertThat(acquiring.isValid(0) && owned.isValid(0)).isTrue();
			}
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { SQLException.class, IllegalStateException.class })
	void aDatabaseThatCannotBeAskedIsWarnedOfOnce(Class<? extends Exception> failure, CapturedOutput output)
			throws Exception {
		DataSource other = mock();
		given(other.getConnection()).willThrow(failure);
		try (LockPools pools = this.pools) {
			createTable(pools);
			assertThat(pools.isFor(other) || pools.isFor(other)).isFalse();
			assertThat(rows(pools)).isZero();
		}
		verify(other).getConnection();
		assertThat(output).containsOnlyOnce("are not fenced by default until the next start, because it is unknown");
	}

}
