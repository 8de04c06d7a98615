// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.support.DefaultSingletonBeanRegistry;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertySource;

import io.github.lockstarter.servers.ServerHost;

/**
 * Starts or joins what the shop needs and no property names, before there are beans,
 * because their conditions depend on the addresses.
 */
class EmbeddedServers implements ApplicationContextInitializer<ConfigurableApplicationContext> {

	private static final String DIRECTORY = "${shop.directory:${java.io.tmpdir}/sample-stock-app-${user.name}}";

	private static final String[] DATABASE = { "spring.datasource.url", "spring.datasource.jndi-name",
			"spring.datasource.embedded-database-connection", "spring.datasource.hikari.jdbc-url",
			"spring.datasource.hikari.data-source-class-name" };

	@Override
	public void initialize(ConfigurableApplicationContext context) {
		List<EmbeddedServer> missing = missing(context.getEnvironment());
		if (missing.isEmpty() && !needsFile(context.getEnvironment())) {
			return;
		}
		try {
			Path directory = Files
				.createDirectories(Path.of(context.getEnvironment().resolveRequiredPlaceholders(DIRECTORY)))
				.toRealPath();
			// One instance at a time starts, or joins
			try (FileChannel start = FileChannel.open(directory.resolve("start.lock"), StandardOpenOption.CREATE,
					StandardOpenOption.WRITE)) {
				start.lock();
				for (EmbeddedServer server : missing) {
					join(server, directory, context);
				}
				if (needsFile(context.getEnvironment())) {
					openFile(directory, context);
				}
			}
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void join(EmbeddedServer server, Path directory, ConfigurableApplicationContext context)
			throws IOException {
		ServerHost host = ServerHost.join(server, directory);
		LogFactory.getLog(EmbeddedServers.class)
			.info("%s %s".formatted(host.isLaunched() ? "Started" : "Joined", host.address()));
		String[] property = host.address().split("=", 2);
		use(new MapPropertySource(server.name(), Map.of(property[0], property[1])), host, context);
	}

	static List<EmbeddedServer> missing(Environment environment) {
		return Stream.of(EmbeddedServer.values())
			.filter((server) -> server.isWanted(environment) && !isConfigured(environment, server.properties()))
			.toList();
	}

	/**
	 * Return whether the data is in a file of H2.
	 */
	static boolean needsFile(Environment environment) {
		return !isConfigured(environment, DATABASE);
	}

	/**
	 * Return whether one of some properties, or one below it, is set in any form.
	 */
	private static boolean isConfigured(Environment environment, String... properties) {
		for (String property : properties) {
			ConfigurationPropertyName name = ConfigurationPropertyName.of(property);
			for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
				if (source.getConfigurationProperty(name) != null
						|| source.containsDescendantOf(name) == ConfigurationPropertyState.PRESENT) {
					return true;
				}
			}
		}
		return false;
	}

	/**
	 * Open the file. The first instance serves it to the others, until the next one takes
	 * over.
	 */
	private static void openFile(Path directory, ConfigurableApplicationContext context) throws Exception {
		// By default, on all interfaces
		System.setProperty("h2.bindAddress", "127.0.0.1");
		// With reuse, a result from before a commit may be given again after it:
		// https://github.com/h2database/h2database/pull/4095
		String url = "jdbc:h2:file:" + directory.resolve("shop")
				+ ";AUTO_SERVER=TRUE;LOCK_TIMEOUT=10000;OPTIMIZE_REUSE_RESULTS=FALSE";
		Connection connection = DriverManager.getConnection(url, "sa", "");
		use(new MapPropertySource("H2", Map.of("spring.datasource.url", url, "spring.datasource.username", "sa")),
				connection, context);
	}

	/**
	 * Use a server until all beans, which are younger, have been destroyed.
	 */
	private static void use(PropertySource<?> address, AutoCloseable server, ConfigurableApplicationContext context) {
		context.getEnvironment().getPropertySources().addLast(address);
		((DefaultSingletonBeanRegistry) context.getBeanFactory()).registerDisposableBean(address.getName(),
				server::close);
	}

}
