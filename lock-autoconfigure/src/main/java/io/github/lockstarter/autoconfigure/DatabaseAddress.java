// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.sql.DataSource;

/**
 * Writes the address of a database into messages.
 */
final class DatabaseAddress {

	/** The parts of a JDBC URL that come before a user, if there is one. */
	private static final Pattern START = Pattern.compile("^(?:[\\w+-]+:)+(?://)?");

	/** The signs that begin parameters, or a list of properties in place of a host. */
	private static final Pattern END = Pattern.compile("[?;#(]");

	private DatabaseAddress() {
	}

	/**
	 * Return the JDBC URL of a database, with its secrets.
	 * @throws SQLException if the database cannot be asked
	 */
	static String urlOf(DataSource dataSource) throws SQLException {
		try (Connection connection = dataSource.getConnection()) {
			String url = connection.getMetaData().getURL();
			return (url != null) ? url : "unknown";
		}
	}

	/**
	 * Return a JDBC URL without its user and its parameters, both of which may contain a
	 * password. Where it is not clear what belongs to a password, too much is left out.
	 */
	static String withoutSecrets(String url) {
		String address = END.split(url, 2)[0];
		int user = address.lastIndexOf('@');
		if (user < 0 && url.indexOf('@') < 0) {
			return address;
		}
		Matcher start = START.matcher(address);
		return (start.find() ? start.group() : "") + ((user >= 0) ? address.substring(user + 1) : "");
	}

}
