// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.io.IOException;
import java.nio.file.Path;

import org.springframework.beans.factory.support.DefaultSingletonBeanRegistry;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertiesPropertySource;

/**
 * Starts or joins the servers of the active profiles before there are beans, because
 * conditions depend on the addresses.
 */
class StoreProfiles implements ApplicationContextInitializer<ConfigurableApplicationContext> {

	@Override
	public void initialize(ConfigurableApplicationContext context) {
		for (StoreProfile profile : StoreProfile.values()) {
			if (profile.needsServers(context.getEnvironment())) {
				join(profile, context);
			}
		}
	}

	private static void join(StoreProfile profile, ConfigurableApplicationContext context) {
		ConfigurableEnvironment environment = context.getEnvironment();
		try {
			HostedServers servers = new HostedServers(profile, new SharedDirectory(
					Path.of(environment.resolveRequiredPlaceholders(EmbeddedConfiguration.DIRECTORY))));
			environment.getPropertySources()
				.addLast(new PropertiesPropertySource(profile.profile(), servers.properties()));
			// The first of all, so that it is destroyed after all beans
			((DefaultSingletonBeanRegistry) context.getBeanFactory()).registerDisposableBean(profile.profile(),
					servers::close);
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

}
