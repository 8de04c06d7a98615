// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

import javax.net.ssl.HostnameVerifier;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocketFactory;

import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisClientBuilderCustomizer;
import org.springframework.data.redis.connection.jedis.JedisClientConfigBuilderCustomizer;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/**
 * Connections for subscriptions only, to the server of the application's Jedis
 * connections. If a server refuses a subscription, the connection returns to its pool
 * with an unread answer, and its next user reads the answers to other commands. Such a
 * connection must never be used to ask for a lock.
 */
final class JedisSubscriptionConnections {

	private JedisSubscriptionConnections() {
	}

	/**
	 * Return the connections of the application with separate ones to subscribe, or
	 * {@code null} if the factory is not that of Jedis.
	 */
	static @Nullable LockConnections derivedFrom(RedisConnectionFactory application) {
		if (application.getClass() != JedisConnectionFactory.class) {
			return null;
		}
		JedisConnectionFactory jedis = (JedisConnectionFactory) application;
		JedisConnectionFactory own = create(jedis, new UnpooledClientConfiguration(jedis.getClientConfiguration()));
		own.afterPropertiesSet();
		own.start();
		return LockConnections.ofApplication(application, false,
				() -> JedisSubscriptionConnection.open(own.getConnection()), own::destroy);
	}

	private static JedisConnectionFactory create(JedisConnectionFactory jedis, JedisClientConfiguration client) {
		if (jedis.getClusterConfiguration() != null) {
			return new JedisConnectionFactory(jedis.getClusterConfiguration(), client);
		}
		if (jedis.getSentinelConfiguration() != null) {
			return new JedisConnectionFactory(jedis.getSentinelConfiguration(), client);
		}
		return new JedisConnectionFactory(Objects.requireNonNull(jedis.getStandaloneConfiguration()), client);
	}

	/**
	 * The client configuration of the application without its pool, and with a time-out
	 * for the confirmation of a subscription. Jedis has none by default.
	 */
	private record UnpooledClientConfiguration(
			JedisClientConfiguration application) implements JedisClientConfiguration {

		@Override
		public Optional<JedisClientConfigBuilderCustomizer> getClientConfigCustomizer() {
			JedisClientConfigBuilderCustomizer application = this.application.getClientConfigCustomizer()
				.orElse((builder) -> {
				});
			Duration answer = getReadTimeout().isZero() ? LockConnections.LONGEST_ANSWER : getReadTimeout();
			return Optional.of((builder) -> {
				application.customize(builder);
				builder.blockingSocketTimeoutMillis((int) answer.toMillis());
			});
		}

		@Override
		public Optional<JedisClientBuilderCustomizer> getClientCustomizer() {
			return this.application.getClientCustomizer();
		}

		@Override
		public boolean isUseSsl() {
			return this.application.isUseSsl();
		}

		@Override
		public Optional<SSLSocketFactory> getSslSocketFactory() {
			return this.application.getSslSocketFactory();
		}

		@Override
		public Optional<SSLParameters> getSslParameters() {
			return this.application.getSslParameters();
		}

		@Override
		public Optional<HostnameVerifier> getHostnameVerifier() {
			return this.application.getHostnameVerifier();
		}

		@Override
		public boolean isUsePooling() {
			return false;
		}

		@Override
		public Optional<GenericObjectPoolConfig<?>> getPoolConfig() {
			return Optional.empty();
		}

		@Override
		public Optional<String> getClientName() {
			return this.application.getClientName();
		}

		@Override
		public Duration getConnectTimeout() {
			return this.application.getConnectTimeout();
		}

		@Override
		public Duration getReadTimeout() {
			return this.application.getReadTimeout();
		}

	}

}
