// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

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
