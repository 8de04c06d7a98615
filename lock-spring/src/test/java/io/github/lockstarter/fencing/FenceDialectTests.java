// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which database is behind the names that drivers report.
 */
class FenceDialectTests {

	@ParameterizedTest
	@CsvSource({ "PostgreSQL, POSTGRESQL", "MariaDB, MARIADB", "MySQL, MYSQL", "H2, H2", "Oracle, GENERIC" })
	void aDatabaseIsKnownByItsProduct(String product, FenceDialect dialect) {
		assertThat(FenceDialect.of(product)).isEqualTo(dialect);
	}

	/** The clocks of JVMs may differ. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "GENERIC")
	void theTimeIsThatOfTheDatabase(FenceDialect dialect) {
		assertThat(dialect.clock()).contains("time");
		assertThat(FenceDialect.GENERIC.clock()).containsOnlyDigits();
	}

}
