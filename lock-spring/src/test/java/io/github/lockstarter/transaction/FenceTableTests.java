// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mockito.Answers;

import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * The databases whose transactions can be fenced.
 */
class FenceTableTests {

	@ParameterizedTest
	@CsvSource({ "PostgreSQL, postgresql", "MariaDB, mariadb", "MySQL, mysql", "H2, h2" })
	void aDatabaseIsKnownByItsProduct(String product, String platform) throws Exception {
		assertThat(FenceTable.platform(database(product))).isEqualTo(platform);
	}

	@Test
	void anUnknownDatabaseIsRefusedWithTheFenceByHand() throws Exception {
		FenceTable table = new FenceTable(database("Oracle"));
		assertThatExceptionOfType(FencingNotPossibleException.class).isThrownBy(table::require)
			.withMessageContaining("the database Oracle cannot be fenced")
			.satisfies((ex) -> assertThat(ex.getRemedy()).contains("where … and fence < :token"));
	}

	@Test
	void severalDatabasesBehindOneDataSourceAreRefused() throws Exception {
		DataSource routing = mock(AbstractRoutingDataSource.class);
		assertThatExceptionOfType(FencingNotPossibleException.class).isThrownBy(() -> new FenceTable(routing))
			.withMessageContaining("chooses between several databases");
		assertThatExceptionOfType(FencingNotPossibleException.class)
			.isThrownBy(() -> new FenceTable(new LazyConnectionDataSourceProxy(routing)));
		DataSource wrapper = mock();
		given(wrapper.isWrapperFor(AbstractRoutingDataSource.class)).willReturn(true);
		assertThatExceptionOfType(FencingNotPossibleException.class).isThrownBy(() -> new FenceTable(wrapper));
	}

	private static DataSource database(String product) throws Exception {
		DataSource database = mock(Answers.RETURNS_DEEP_STUBS);
		given(database.getConnection().getMetaData().getDatabaseProductName()).willReturn(product);
		return database;
	}

}
