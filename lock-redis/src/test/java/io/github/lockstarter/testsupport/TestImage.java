// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/**
 * The container images of the tests, all in one place to keep them current.
 */
public enum TestImage {

	REDIS("redis:8.4"),

	VALKEY("valkey/valkey:9.0");

	private static final int PORT = 6379;

	private final DockerImageName name;

	TestImage(String name) {
		this.name = DockerImageName.parse(name);
	}

	/**
	 * Return a container of the image, not yet started.
	 */
	public GenericContainer<?> container() {
		return new GenericContainer<>(this.name).withExposedPorts(PORT);
	}

}
