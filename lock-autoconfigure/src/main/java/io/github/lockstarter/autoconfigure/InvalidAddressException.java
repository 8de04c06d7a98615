// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

/**
 * Exception thrown at startup when a property has an invalid address of a server, which
 * may contain a password. The general exception of Spring Boot for an invalid value is
 * reported with that value, as it is in the environment.
 */
class InvalidAddressException extends IllegalArgumentException {

	private final String property;

	/**
	 * Create an exception.
	 * @param property the name of the property
	 * @param reason what is wrong, as a sentence without the value
	 */
	InvalidAddressException(String property, String reason) {
		super("The property '" + property + "' is invalid: " + reason);
		this.property = property;
	}

	String getProperty() {
		return this.property;
	}

}
