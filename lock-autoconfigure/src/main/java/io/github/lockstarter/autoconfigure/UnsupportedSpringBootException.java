// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

/**
 * Exception thrown at startup when Spring Boot is too old.
 */
class UnsupportedSpringBootException extends IllegalStateException {

	UnsupportedSpringBootException(String version) {
		super("lock-starter requires Spring Boot 4, but this application runs on Spring Boot " + version);
	}

}
