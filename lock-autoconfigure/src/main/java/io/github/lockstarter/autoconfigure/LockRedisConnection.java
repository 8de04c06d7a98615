// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.StringUtils;

/**
 * Creates the connection of the locks for an application that does not use Redis itself,
 * from the settings that Spring Boot would use.
 */
final class LockRedisConnection {

	private LockRedisConnection() {
	}

	/**
	 * Create a factory that holds the connection settings. It is never started, so it
	 * does not have to be closed.
	 */
	static RedisConnectionFactory create(LockRedisProperties properties, ObjectProvider<SslBundles> sslBundles) {
		if (properties.clientType() == LockRedisProperties.ClientType.JEDIS) {
			throw new InvalidConfigurationPropertyValueException("spring.data.redis.client-type", "jedis",
					"Without a RedisConnectionFactory bean the locks use Lettuce. To use Jedis, add the dependency"
							+ " org.springframework.boot:spring-boot-starter-data-redis.");
		}
		RedisConnectionFactory factory = createLettuce(properties, sslBundles);
		LogFactory.getLog(LockRedisConnection.class)
			.info("The locks use their own connection to Redis, with the settings under spring.data.redis,"
					+ " because this application has no RedisConnectionFactory bean. To use Redis in the"
					+ " application as well,"
					+ " add the dependency org.springframework.boot:spring-boot-starter-data-redis");
		return factory;
	}

	/**
	 * Create such a factory for Lettuce.
	 */
	static LettuceConnectionFactory createLettuce(LockRedisProperties properties,
			ObjectProvider<SslBundles> sslBundles) {
		LockRedisServers servers = new LockRedisServers(properties);
		return new LettuceConnectionFactory(servers.configuration(),
				client(properties, servers, sslBundle(properties.ssl(), sslBundles)));
	}

	private static @Nullable SslBundle sslBundle(LockRedisProperties.Ssl ssl, ObjectProvider<SslBundles> sslBundles) {
		if (!ssl.isUsed()) {
			return null;
		}
		return StringUtils.hasLength(ssl.bundle()) ? sslBundles.getObject().getBundle(ssl.bundle())
				: SslBundle.systemDefault();
	}

	private static LettuceClientConfiguration client(LockRedisProperties properties, LockRedisServers servers,
			@Nullable SslBundle sslBundle) {
		LettuceClientConfiguration.LettuceClientConfigurationBuilder client = LettuceClientConfiguration.builder();
		client.clientOptions(options(properties, sslBundle));
		if (sslBundle != null || servers.isEncrypted()) {
			client.useSsl();
		}
		if (properties.timeout() != null) {
			client.commandTimeout(properties.timeout());
		}
		if (StringUtils.hasText(properties.clientName())) {
			client.clientName(properties.clientName());
		}
		return client.build();
	}

	private static ClientOptions options(LockRedisProperties properties, @Nullable SslBundle sslBundle) {
		ClientOptions.Builder options = (properties.cluster() != null)
				? ClusterClientOptions.builder()
					.topologyRefreshOptions(refresh(properties.lettuce().cluster().refresh()))
				: ClientOptions.builder();
		if (properties.connectTimeout() != null) {
			options.socketOptions(SocketOptions.builder().connectTimeout(properties.connectTimeout()).build());
		}
		if (sslBundle != null) {
			options.sslOptions(sslOptions(sslBundle));
		}
		return options.timeoutOptions(TimeoutOptions.enabled()).build();
	}

	private static ClusterTopologyRefreshOptions refresh(LockRedisProperties.Refresh refresh) {
		ClusterTopologyRefreshOptions.Builder options = ClusterTopologyRefreshOptions.builder()
			.dynamicRefreshSources(refresh.dynamicRefreshSources());
		if (refresh.period() != null) {
			options.enablePeriodicRefresh(refresh.period());
		}
		return options.build();
	}

	private static SslOptions sslOptions(SslBundle bundle) {
		SslOptions.Builder options = SslOptions.builder()
			.keyManager(bundle.getManagers().getKeyManagerFactory())
			.trustManager(bundle.getManagers().getTrustManagerFactory());
		String[] ciphers = bundle.getOptions().getCiphers();
		if (ciphers != null) {
			options.cipherSuites(ciphers);
		}
		String[] protocols = bundle.getOptions().getEnabledProtocols();
		if (protocols != null) {
			options.protocols(protocols);
		}
		return options.build();
	}

}
