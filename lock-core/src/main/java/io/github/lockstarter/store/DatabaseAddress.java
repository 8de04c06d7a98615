// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

/**
 * The address of a database, as far as messages may contain it.
 */
public final class DatabaseAddress {

	/** The parts of a JDBC URL that come before a user, if there is one. */
	private static final Pattern START = Pattern.compile("^(?:[\\w+-]+:)+(?://)?");

	/** The signs that begin parameters, or a list of properties in place of a host. */
	private static final Pattern END = Pattern.compile("[?;#(]|:?\\w+=");

	/** Databases whose URL has its user only among the parameters. */
	private static final Pattern WITHOUT_USER = Pattern.compile("^jdbc:(?:sqlserver|h2):");

	/** Hosts and ports, and the sign that ends them: a user cannot follow. */
	private static final Pattern HOSTS = Pattern.compile("^(?:(?:[\\w.-]+|\\[[\\w:.]+])(?::\\d+)?(?:,|(?=/)))*/");

	/** A value of SQL Server that may contain any sign. */
	private static final Pattern QUOTED = Pattern.compile("\\{(?:[^}]|}})*}?");

	/** The parameters that belong to the address. */
	private static final Pattern PLACE = Pattern
		.compile("[?;&(,]\\s*((?:host|port|server(?:name)?|portnumber|instancename|database(?:name)?|service_name|sid)"
				+ "\\s*=\\s*(?:[\\w.:-]+|\\[[\\w:.]+]))", Pattern.CASE_INSENSITIVE);

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
	 * Return a JDBC URL with its hosts and its database, but without its user and its
	 * other parameters, which may contain a password. Where it is not clear what belongs
	 * to a password, too much is left out.
	 * @param url the URL, or {@code null} if it is not known
	 * @return the address; empty if it is not known
	 */
	public static String of(@Nullable String url) {
		Matcher start = START.matcher((url != null) ? url : "");
		if (url == null || !start.find()) {
			return "";
		}
		String rest = url.substring(start.end());
		String place = END.split(rest, 2)[0];
		String parameters = rest.substring(place.length());
		int user = place.lastIndexOf('@');
		boolean clear = parameters.indexOf('@') < 0 || WITHOUT_USER.matcher(url).find()
				|| (user < 0 && HOSTS.matcher(place).find());
		return clear ? start.group() + place.substring(user + 1) + named(parameters) : start.group();
	}

	private static String named(String parameters) {
		String named = PLACE.matcher(QUOTED.matcher(parameters).replaceAll(""))
			.results()
			.map((parameter) -> parameter.group(1))
			.collect(Collectors.joining(", "));
		return named.isEmpty() ? "" : " (" + named + ")";
	}

}
