// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/**
 * The images of servers that tests use where Docker runs.
 */
public enum TestImage {

	REDIS("redis:8.4-alpine"),

	VALKEY("valkey/valkey:9.0-alpine");

	private final String image;

	TestImage(String image) {
		this.image = image;
	}

	/**
	 * Return a container that is not started yet.
	 */
	public GenericContainer<?> container() {
		return new GenericContainer<>(DockerImageName.parse(this.image)).withExposedPorts(6379);
	}

}
