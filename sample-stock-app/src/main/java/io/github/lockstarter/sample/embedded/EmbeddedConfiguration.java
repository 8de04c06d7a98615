// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Provides an embedded database if the application configures none, and an embedded Redis
 * if the locks are in Redis.
 */
@Configuration(proxyBeanMethods = false)
class EmbeddedConfiguration {

	static final String DIRECTORY = "${shop.directory:${java.io.tmpdir}/sample-stock-app-${user.name}}";

	@Bean
	SharedDirectory sharedDirectory(@Value(DIRECTORY) Path directory) throws IOException {
		return new SharedDirectory(directory);
	}

	@Bean
	@ConditionalOnProperty(name = "distributed-lock.store", havingValue = "redis", matchIfMissing = true)
	@ConditionalOnNotConfigured({ "spring.data.redis.host", "spring.data.redis.port", "spring.data.redis.url",
			"spring.data.redis.sentinel", "spring.data.redis.cluster", "spring.data.redis.masterreplica" })
	EmbeddedRedis embeddedRedis(SharedDirectory directory) throws IOException {
		return new EmbeddedRedis(directory);
	}

	@Bean
	@ConditionalOnNotConfigured({ "spring.datasource.url", "spring.datasource.jndi-name",
			"spring.datasource.embedded-database-connection", "spring.datasource.hikari.jdbc-url",
			"spring.datasource.hikari.data-source-class-name" })
	EmbeddedDatabase embeddedDatabase(SharedDirectory directory) throws IOException, SQLException {
		return new EmbeddedDatabase(directory);
	}

}
