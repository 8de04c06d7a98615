// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import org.junit.jupiter.api.Order;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The address of a database in messages.
 */
@Order(1)
class LockDatabaseTests {

	@ParameterizedTest
	@CsvSource(emptyValue = "", textBlock = """
			jdbc:postgresql://db.example:5432/shop, jdbc:postgresql://db.example:5432/shop
			jdbc:postgresql://db.example/shop?user=app&password=secret, jdbc:postgresql://db.example/shop
			jdbc:sqlserver://db.example:1433;password=secret, jdbc:sqlserver://db.example:1433
			jdbc:mariadb://app:se@cret@db.example:3306/shop, db.example:3306/shop
			jdbc:oracle:thin:app/secret@db.example:1521/shop, db.example:1521/shop
			jdbc:mysql://app:se?cret@db.example/shop, ''
			jdbc:postgresql://db.example/shop?password=se@cret, ''
			jdbc:h2:mem:shop;MODE=PostgreSQL, jdbc:h2:mem:shop
			""")
	void anAddressContainsNoSecret(String url, String address) {
		assertThat(LockDatabase.address(url)).isEqualTo(address);
	}

}
