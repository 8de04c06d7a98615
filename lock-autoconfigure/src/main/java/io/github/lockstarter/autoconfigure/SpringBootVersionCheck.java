// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.SpringBootVersion;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.Ordered;

/**
 * Stops the startup on a version of Spring Boot that is too old, before it causes a
 * misleading failure.
 */
class SpringBootVersionCheck implements ApplicationContextInitializer<ConfigurableApplicationContext>, Ordered {

	@Override
	public void initialize(ConfigurableApplicationContext context) {
		check(SpringBootVersion.getVersion());
	}

	static void check(@Nullable String version) {
		if (version != null && version.matches("[0-3]\\..*")) {
			throw new UnsupportedSpringBootException(version);
		}
	}

	@Override
	public int getOrder() {
		return HIGHEST_PRECEDENCE;
	}

}
