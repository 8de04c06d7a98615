// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class DatabaseAddressTests {

	@ParameterizedTest
	@CsvSource({ "jdbc:h2:mem:orders, jdbc:h2:mem:orders",
			"jdbc:postgresql://db:5432/shop, jdbc:postgresql://db:5432/shop",
			"jdbc:postgresql://db/shop?user=me&password=secret, jdbc:postgresql://db/shop",
			"jdbc:h2:tcp://db/shop;PASSWORD=secret, jdbc:h2:tcp://db/shop",
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
		assertThat(DatabaseAddress.withoutSecrets(url)).isEqualTo(address);
	}

}
