// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.event.ClusterTopologyChangedEvent;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.DefaultEventLoopGroupProvider;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.DnsResolvers;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.lettuce.core.resource.SocketAddressResolver;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

/**
 * Connections to the server of the application's Lettuce connections, with the behavior
 * that locks need. By default Lettuce keeps commands while it is disconnected, and
 * repeats those without an answer after it reconnects: a request for a lock could arrive
 * a minute late. Here commands fail at once while disconnected, and after two seconds
 * without an answer.
 */
final class LettuceLockConnections {

	private static final Duration LONGEST_RECONNECT_DELAY = Duration.ofSeconds(1);

	private LettuceLockConnections() {
	}

	/**
	 * Return connections derived from those of the application, or {@code null} if the
	 * factory is not that of Lettuce.
	 */
	static @Nullable LockConnections derivedFrom(RedisConnectionFactory application) {
		return derivedFrom(application, Integer.MAX_VALUE);
	}

	/**
	 * Return such connections with a bound for requests without an answer. Without one,
	 * requests to a silent server pile up if nobody waits for it.
	 */
	static @Nullable LockConnections derivedFrom(RedisConnectionFactory application, int unanswered) {
		if (application.getClass() != LettuceConnectionFactory.class) {
			return null;
		}
		LettuceConnectionFactory lettuce = (LettuceConnectionFactory) application;
		RedisConfiguration servers = LockConnections.serversOf(lettuce);
		if (servers == null) {
			return null;
		}
		LettuceClientConfiguration configuration = lettuce.getClientConfiguration();
		EventLoopGroupProvider loop = new DefaultEventLoopGroupProvider(1);
		PrimaryAddress primary = new PrimaryAddress(servers,
				configuration.getClientResources()
					.map(ClientResources::socketAddressResolver)
					.orElseGet(() -> SocketAddressResolver.create(DnsResolvers.UNRESOLVED)));
		ClientResources resources = resources(configuration, loop, primary);
		LettuceClientConfiguration client = new LockClientConfiguration(configuration, resources,
				options(configuration, lettuce.isClusterAware(), unanswered));
		LettuceConnectionFactory own = start(servers, client);
		LettuceConnectionFactory replicated = start(servers, client);
		Duration connectTimeout = configuration.getClientOptions()
			.map((options) -> options.getSocketOptions().getConnectTimeout())
			.orElse(SocketOptions.DEFAULT_CONNECT_TIMEOUT_DURATION);
		LettuceScriptConnection scripts = new LettuceScriptConnection(own, connectTimeout, primary);
		LettuceScriptConnection others = new LettuceScriptConnection(replicated, connectTimeout, primary);
		Disposable following = follow(primary, resources, scripts, others);
		return new LockConnections(scripts, others, LockConnections.subscriptionsOf(own), () -> {
			following.dispose();
			own.destroy();
			replicated.destroy();
			resources.shutdown(0, 2, TimeUnit.SECONDS);
			loop.shutdown(0, 2, TimeUnit.SECONDS);
		});
	}

	/**
	 * Let connections lead to the primary, also when it changes.
	 * @return ends that
	 */
	private static Disposable follow(PrimaryAddress primary, ClientResources resources, LettuceScriptConnection scripts,
			LettuceScriptConnection replicated) {
		if (scripts.isCluster()) {
			// The driver follows, but a new primary may lack leases
			return resources.eventBus()
				.get()
				.ofType(ClusterTopologyChangedEvent.class)
				.subscribe((event) -> scripts.interrupted());
		}
		return primary.watch(() -> {
			replicated.follow();
			// Last, because it renews the leases
			scripts.follow();
		});
	}

	/** No connection is opened before the first use. */
	private static LettuceConnectionFactory start(RedisConfiguration servers, LettuceClientConfiguration client) {
		LettuceConnectionFactory connections = new LettuceConnectionFactory(servers, client);
		connections.afterPropertiesSet();
		connections.start();
		return connections;
	}

	/**
	 * Return resources with a separate network thread, which the application cannot
	 * block. The thread answers a message with a command without waking another thread.
	 */
	private static ClientResources resources(LettuceClientConfiguration configuration, EventLoopGroupProvider loop,
			PrimaryAddress primary) {
		Delay delay = Delay.exponential(Duration.ofMillis(10), LONGEST_RECONNECT_DELAY, 2, TimeUnit.MILLISECONDS);
		return configuration.getClientResources()
			// A copy that does not share these would end them with itself
			.map((shared) -> shared.mutate()
				.timer(shared.timer())
				.eventExecutorGroup(shared.eventExecutorGroup())
				.tracing(new TracingOfCallers(shared.tracing())))
			.orElseGet(DefaultClientResources::builder)
			.eventLoopGroupProvider(loop)
			.reconnectDelay(delay)
			.socketAddressResolver(primary)
			.build();
	}

	private static ClientOptions options(LettuceClientConfiguration configuration, boolean cluster, int unanswered) {
		ClientOptions options = configuration.getClientOptions()
			.orElseGet(() -> cluster ? ClusterClientOptions.create() : ClientOptions.create());
		Duration connectTimeout = shorter(options.getSocketOptions().getConnectTimeout(),
				LockConnections.LONGEST_ANSWER);
		return options.mutate()
			.autoReconnect(true)
			.requestQueueSize(Math.min(unanswered, options.getRequestQueueSize()))
			.disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
			.timeoutOptions(TimeoutOptions.enabled())
			.socketOptions(options.getSocketOptions().mutate().connectTimeout(connectTimeout).build())
			.build();
	}

	private static Duration shorter(Duration a, Duration b) {
		return (a.compareTo(b) < 0) ? a : b;
	}

	/**
	 * The client configuration of the application, with other resources, options and
	 * time-outs.
	 */
	private record LockClientConfiguration(LettuceClientConfiguration application, ClientResources resources,
			ClientOptions options) implements LettuceClientConfiguration {

		@Override
		public boolean isUseSsl() {
			return this.application.isUseSsl();
		}

		@Override
		@SuppressWarnings("deprecation")
		public boolean isVerifyPeer() {
			return this.application.isVerifyPeer();
		}

		@Override
		public SslVerifyMode getVerifyMode() {
			return this.application.getVerifyMode();
		}

		@Override
		public boolean isStartTls() {
			return this.application.isStartTls();
		}

		@Override
		public Optional<ClientResources> getClientResources() {
			return Optional.of(this.resources);
		}

		@Override
		public Optional<ClientOptions> getClientOptions() {
			return Optional.of(this.options);
		}

		@Override
		public Optional<String> getClientName() {
			return this.application.getClientName();
		}

		@Override
		public Optional<ReadFrom> getReadFrom() {
			// Locks are on the primary only
			return Optional.empty();
		}

		@Override
		public Optional<RedisCredentialsProviderFactory> getRedisCredentialsProviderFactory() {
			// The default asks the configuration of the application at each connect
			return this.application.getRedisCredentialsProviderFactory()
				.or(() -> Optional.of(new RedisCredentialsProviderFactory() {
				}));
		}

		@Override
		public Duration getCommandTimeout() {
			return shorter(this.application.getCommandTimeout(), LockConnections.LONGEST_ANSWER);
		}

		@Override
		public Duration getShutdownTimeout() {
			return this.application.getShutdownTimeout();
		}

		@Override
		public Duration getShutdownQuietPeriod() {
			// No command is sent after the close
			return Duration.ZERO;
		}

	}

}
