// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;

import org.springframework.core.env.Environment;

/**
 * A profile that brings the servers of a store. They run on free ports of the loopback
 * interface.
 */
enum StoreProfile {

	POSTGRESQL("spring.datasource.url", "spring.datasource.jndi-name") {

		@Override
		Servers start(SharedDirectory directory) throws Exception {
			EmbeddedPostgres server = EmbeddedPostgres.builder()
				.setPort(ServerPort.find())
				.setPGStartupWait(Duration.ofMinutes(3))
				.start();
			return new Servers(
					Map.of("spring.datasource.url", "jdbc:postgresql://localhost:" + server.getPort() + "/postgres",
							"spring.datasource.username", "postgres"),
					server);
		}

	},

	MARIADB("spring.datasource.url", "spring.datasource.jndi-name") {

		@Override
		Servers start(SharedDirectory directory) throws Exception {
			MariaDbServer server = MariaDbServer.create();
			return new Servers(Map.of("spring.datasource.url", "jdbc:mariadb://127.0.0.1:" + server.port() + "/test",
					"spring.datasource.username", "root"), server::stop);
		}

	},

	ZOOKEEPER("distributed-lock.zookeeper.connect-string") {

		@Override
		Servers start(SharedDirectory directory) throws Exception {
			// By default, it would listen on all interfaces
			Map<String, Object> loopback = Map.of("clientPortAddress", "127.0.0.1");
			TestingServer server = new TestingServer(
					new InstanceSpec(null, ServerPort.find(), -1, -1, true, -1, -1, -1, loopback), true);
			return new Servers(Map.of("distributed-lock.zookeeper.connect-string", server.getConnectString()), server);
		}

	},

	REDLOCK("distributed-lock.redlock.nodes") {

		private static final int SERVERS = 3;

		@Override
		Servers start(SharedDirectory directory) throws Exception {
			List<RedisProcess> servers = new ArrayList<>();
			List<String> nodes = new ArrayList<>();
			for (int i = 0; i < SERVERS; i++) {
				RedisProcess server = new RedisProcess(new SharedDirectory(directory.resolve("redlock-" + i)));
				// A crash has left it behind
				server.stop();
				nodes.add("127.0.0.1:" + server.start());
				servers.add(server);
			}
			return new Servers(Map.of("distributed-lock.redlock.nodes", String.join(",", nodes)), () -> {
				for (RedisProcess server : servers) {
					server.stop();
				}
			});
		}

	};

	private final List<String> properties;

	/**
	 * Create a profile.
	 * @param properties the properties that name other servers, which are used instead
	 */
	StoreProfile(String... properties) {
		this.properties = List.of(properties);
	}

	/**
	 * Start the servers, in the process that stops them later.
	 */
	abstract Servers start(SharedDirectory directory) throws Exception;

	String profile() {
		return name().toLowerCase(Locale.ROOT);
	}

	boolean needsServers(Environment environment) {
		return List.of(environment.getActiveProfiles()).contains(profile()) && this.properties.stream()
			.noneMatch((property) -> ConditionalOnNotConfigured.OnNotConfigured.isConfigured(environment, property));
	}

	/**
	 * Running servers.
	 *
	 * @param properties the properties of an instance that uses them
	 * @param stop stops them
	 */
	record Servers(Map<String, String> properties, AutoCloseable stop) {
	}

}
