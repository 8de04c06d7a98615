// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class DatabaseAddressTests {

	@ParameterizedTest
	@CsvSource({ "jdbc:h2:mem:orders, jdbc:h2:mem:orders",
			"jdbc:postgresql://db:5432/shop, jdbc:postgresql://db:5432/shop",
			"jdbc:postgresql://db/shop?user=me&password=secret, jdbc:postgresql://db/shop",
			"jdbc:h2:tcp://db/shop;PASSWORD=secret, jdbc:h2:tcp://db/shop",
			"jdbc:sqlserver://db:1433;password=secret, jdbc:sqlserver://db:1433",
			"jdbc:sqlserver://db:1433;user=me;password=se@cret, jdbc:sqlserver://",
			"jdbc:mysql://me:secret@db:3306/shop?useSSL=true, jdbc:mysql://db:3306/shop",
			"jdbc:mysql://me:se@cret@db/shop, jdbc:mysql://db/shop",
			"jdbc:mysql://(host=db;password=secret)/shop, jdbc:mysql://",
			"jdbc:mysql://address=(host=db)(password=secret)/shop, jdbc:mysql://address=",
			"jdbc:mysql://me:se?cret@db/shop, jdbc:mysql://",
			"jdbc:aws-wrapper:postgresql://db/shop?password=se@cret, jdbc:aws-wrapper:postgresql://",
			"jdbc:oracle:thin:me/secret@db:1521:shop, jdbc:oracle:thin:db:1521:shop",
			"jdbc:oracle:thin:@//db:1521/shop, jdbc:oracle:thin://db:1521/shop" })
	void itHasNoSecrets(String url, String address) {
		assertThat(DatabaseAddress.of(url)).isEqualTo(address);
	}

	@ParameterizedTest
	@CsvSource({ "jdbc:postgresql://db/shop?user=me, jdbc:postgresql://db/shop?user=you, true",
			"jdbc:mariadb://me:secret@db/shop, jdbc:mariadb://db/shop, true",
			"jdbc:postgresql://db/shop, jdbc:postgresql://db/orders, false",
			"jdbc:mysql://(host=db)/shop, jdbc:mysql://(host=db)/shop, false", "jdbc:h2:mem:, jdbc:h2:mem:, false",
			", , false" })
	void itIsTheSameIfOnlyTheConnectionsDiffer(String url, String other, boolean same) {
		assertThat(DatabaseAddress.isSame(url, other)).isEqualTo(same);
	}

}
