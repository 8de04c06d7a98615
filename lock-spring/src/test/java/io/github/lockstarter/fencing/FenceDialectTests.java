// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.mockito.Answers;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willReturn;
import static org.mockito.Mockito.mock;

/**
 * Which database is behind the names that drivers report.
 */
class FenceDialectTests {

	@ParameterizedTest
	@CsvSource({ "PostgreSQL, POSTGRESQL", "MariaDB, MARIADB", "MySQL, MYSQL", "H2, H2", "Oracle, GENERIC" })
	void aDatabaseIsKnownByItsProduct(String product, FenceDialect dialect) {
		assertThat(FenceDialect.of(product)).isEqualTo(dialect);
	}

	/**
	 * As {@code io.asyncer:r2dbc-mysql} does, whose product is the comment of the build.
	 */
	@ParameterizedTest
	@CsvSource({ "MySQL Community Server - GPL, mysql", "MySQL Enterprise Server - Commercial, mysql",
			"(Ubuntu), mysql", "Source distribution, mysql", "Percona Server (GPL), mysql",
			"mariadb.org binary distribution, mariadb" })
	void aReactiveDriverOfMySqlMayReportABuild(String product, String platform) {
		assertThat(platform("MySQL", product)).isEqualTo(platform);
	}

	@Test
	void otherReactiveDriversReportTheProduct() {
		assertThat(platform("MariaDB", "MariaDB")).isEqualTo("mariadb");
		assertThat(platform("MariaDB", "MySQL")).as("the driver connects to both").isEqualTo("mysql");
		assertThat(platform("MYSQL", "Source distribution")).as("of a wrapper").isEqualTo("mysql");
		assertThat(platform("Oracle Database", "Oracle Database")).isEqualTo("generic");
	}

	/** The clocks of JVMs may differ. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "GENERIC")
	void theTimeIsThatOfTheDatabase(FenceDialect dialect) {
		assertThat(dialect.clock()).contains("time");
		assertThat(FenceDialect.GENERIC.clock()).containsOnlyDigits();
	}

	private static String platform(String driver, String product) {
		Connection connection = mock(Answers.RETURNS_DEEP_STUBS);
		given(connection.getMetadata().getDatabaseProductName()).willReturn(product);
		given(connection.close()).willReturn(Mono.empty());
		ConnectionFactory factory = mock();
		willReturn(Mono.just(connection)).given(factory).create();
		given(factory.getMetadata()).willReturn(() -> driver);
		return new R2dbcFenceTable(factory).platform();
	}

}
