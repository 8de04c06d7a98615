// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.testsupport.Cases;

import static org.assertj.core.api.Assertions.assertThat;

@Order(1)
class DatabaseAddressTests {

	@Test
	void anAddressNamesTheServerAndNoSecret() {
		Cases.rows("""
				jdbc:postgresql://db:5432/shop                              | jdbc:postgresql://db:5432/shop
				jdbc:postgresql://a:5432,[::1]:5432/shop?user=me&password=p | jdbc:postgresql://a:5432,[::1]:5432/shop
				jdbc:postgresql://db/shop?password=se@cret                  | jdbc:postgresql://db/shop
				jdbc:aws-wrapper:postgresql://db/shop?password=se@cret      | jdbc:aws-wrapper:postgresql://db/shop
				jdbc:mysql://me:secret@db:3306/shop?useSSL=true             | jdbc:mysql://db:3306/shop
				jdbc:mysql://me:se@cret@db/shop                             | jdbc:mysql://db/shop
				jdbc:mysql://me:se?cret@db/shop                             | jdbc:mysql://
				jdbc:mysql://me:se@cr?et@db/shop                            | jdbc:mysql://
				jdbc:mysql://(host=db,port=3306,password=secret)/shop       | jdbc:mysql:// (host=db, port=3306)
				jdbc:mysql://address=(host=db)(password=secret)/shop        | jdbc:mysql:// (host=db)
				jdbc:mariadb:loadbalance://me:se@cret@db:3306/shop          | jdbc:mariadb:loadbalance://db:3306/shop
				jdbc:sqlserver://db:1433;user=me;password=se@cret           | jdbc:sqlserver://db:1433
				jdbc:sqlserver://db\\x;databaseName=shop;password={;port=1} | jdbc:sqlserver://db\\x (databaseName=shop)
				jdbc:sqlserver://;serverName=db;password=secret             | jdbc:sqlserver:// (serverName=db)
				jdbc:oracle:thin:me/secret@db:1521:shop                     | jdbc:oracle:thin:db:1521:shop
				jdbc:oracle:thin:me/"se@cret"@//db:1521/shop                | jdbc:oracle:thin://db:1521/shop
				jdbc:oracle:thin:@tcps://db:1521/shop?wallet_location=/w    | jdbc:oracle:thin:tcps://db:1521/shop
				jdbc:h2:mem:shop;MODE=MySQL;PASSWORD=se@cret                | jdbc:h2:mem:shop
				jdbc:h2:tcp://db/~/shop;USER=me;PASSWORD=secret             | jdbc:h2:tcp://db/~/shop
				jdbc:hsqldb:hsql://db/shop;user=me;password=secret          | jdbc:hsqldb:hsql://db/shop
				jdbc:db2://db:50000/shop:password=secret;user=me;           | jdbc:db2://db:50000/shop
				unknown                                                     |
				""", (url, address) -> assertThat(DatabaseAddress.of(url)).isEqualTo(address));
	}

	@Test
	void aDescriptorOfOracleNamesItsParts() {
		assertThat(DatabaseAddress.of("jdbc:oracle:thin:me/secret@(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=db)"
				+ "(PORT=1521))(CONNECT_DATA=(SERVICE_NAME=shop)))"))
			.isEqualTo("jdbc:oracle:thin: (HOST=db, PORT=1521, SERVICE_NAME=shop)");
	}

	@Test
	void anUnknownDatabaseHasNoAddress() {
		assertThat(DatabaseAddress.of(null)).isEmpty();
	}

}
