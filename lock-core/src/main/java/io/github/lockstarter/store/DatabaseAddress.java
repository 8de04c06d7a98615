// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

/**
 * The address of a database, as far as messages may contain it.
 */
public final class DatabaseAddress {

	/** The parts of a JDBC URL that come before a user, if there is one. */
	private static final Pattern START = Pattern.compile("^(?:[\\w+-]+:)+(?://)?");

	/** The signs that begin parameters, or a list of properties in place of a host. */
	private static final Pattern END = Pattern.compile("[?;#(]");

	/** The end of an address of which too much is left out to tell it from another. */
	private static final Pattern UNKNOWN = Pattern.compile("[:/=]$|^$");

	private DatabaseAddress() {
	}

	/**
	 * Return the JDBC URL of a database, with its secrets.
	 * @param dataSource opens one connection to ask
	 * @throws SQLException if the database cannot be asked
	 */
	public static String urlOf(DataSource dataSource) throws SQLException {
		try (Connection connection = dataSource.getConnection()) {
			String url = connection.getMetaData().getURL();
			return (url != null) ? url : "";
		}
	}

	/**
	 * Return a JDBC URL without its user and its parameters, both of which may contain a
	 * password. Where it is not clear what belongs to a password, too much is left out.
	 */
	public static String of(@Nullable String url) {
		if (url == null) {
			return "";
		}
		String address = END.split(url, 2)[0];
		int user = address.lastIndexOf('@');
		if (user < 0 && url.indexOf('@') < 0) {
			return address;
		}
		Matcher start = START.matcher(address);
		return (start.find() ? start.group() : "") + ((user >= 0) ? address.substring(user + 1) : "");
	}

	/**
	 * Return whether two JDBC URLs lead to the same database, whatever the users and the
	 * parameters of the connections are.
	 */
	public static boolean isSame(@Nullable String url, @Nullable String other) {
		String address = of(url);
		return !UNKNOWN.matcher(address).find() && address.equals(of(other));
	}

}
