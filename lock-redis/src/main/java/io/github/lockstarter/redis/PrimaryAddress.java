// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.SocketAddressResolver;
import io.lettuce.core.sentinel.api.StatefulRedisSentinelConnection;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration.SentinelConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration.WithHostAndPort;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/**
 * Where a new connection to the primary leads. A planned failover closes no connection
 * and refuses no command for some seconds: until it is demoted, the old primary serves
 * whoever is connected to it, while others are already with the new one.
 *
 * <p>
 * The driver resolves a host by this as well, so that a connection cannot lead to an
 * address that is cached elsewhere. It is the host that the configuration of the
 * application has now; a client of Lettuce keeps the one that it was created with.
 */
final class PrimaryAddress extends SocketAddressResolver {

	private static final Log logger = LogFactory.getLog(PrimaryAddress.class);

	/** For so long, both primaries may have clients. */
	private static final long INTERVAL = TimeUnit.MILLISECONDS.toNanos(500);

	/** Lettuce logs each sentinel that cannot be reached. */
	private static final long OUTAGE_PAUSE = Duration.ofSeconds(5).toNanos();

	private final RedisConfiguration servers;

	private final SocketAddressResolver resolver;

	/** Guarded by this. */
	private @Nullable StatefulRedisSentinelConnection<String, String> sentinel;

	/** Guarded by this. */
	private long askAt = System.nanoTime();

	/**
	 * Create an address.
	 * @param servers the configuration of the application
	 * @param resolver the resolver of the application
	 */
	PrimaryAddress(RedisConfiguration servers, SocketAddressResolver resolver) {
		this.servers = servers;
		this.resolver = resolver;
	}

	@Override
	public SocketAddress resolve(RedisURI uri) {
		if (!(this.servers instanceof WithHostAndPort server)) {
			return this.resolver.resolve(uri);
		}
		SocketAddress address = addressOf(server);
		return (address instanceof InetSocketAddress host && host.isUnresolved())
				? new InetSocketAddress(host.getHostString(), host.getPort()) : address;
	}

	private SocketAddress addressOf(WithHostAndPort server) {
		return this.resolver.resolve(RedisURI.create(server.getHostName(), server.getPort()));
	}

	/**
	 * Look now and then whether connections still lead to the primary.
	 * @param look compares the address of a connection with {@link #lookUp}
	 * @return ends that
	 */
	Disposable watch(Runnable look) {
		CustomizableThreadFactory threads = new CustomizableThreadFactory("lock-primary-");
		threads.setDaemon(true);
		AtomicBoolean ended = new AtomicBoolean();
		// No executor, which would lose its only thread, or the task, to a full heap
		Thread watch = threads.createThread(() -> {
			while (!ended.get()) {
				try {
					look.run();
				}
				catch (Throwable ex) {
					// Without memory nothing can be logged either
				}
				LockSupport.parkNanos(this, INTERVAL);
			}
		});
		watch.start();
		return () -> {
			ended.set(true);
			watch.interrupt();
			close();
		};
	}

	/**
	 * Ask Sentinel, or look the host up.
	 * @param client connects to sentinels
	 * @return all addresses; empty if they are not known, or if the driver itself follows
	 * the primary, as in a cluster
	 */
	Set<SocketAddress> lookUp(RedisClient client) {
		try {
			if (this.servers instanceof WithHostAndPort server) {
				SocketAddress address = addressOf(server);
				return (address instanceof InetSocketAddress host && host.isUnresolved()) ? resolve(host)
						: Set.of(address);
			}
			SocketAddress address = (this.servers instanceof SentinelConfiguration sentinels) ? ask(client, sentinels)
					: null;
			return (address != null) ? Set.of(address) : Set.of();
		}
		catch (Exception ex) {
			logger.debug("The address of the primary is not known", ex);
			return Set.of();
		}
	}

	private static Set<SocketAddress> resolve(InetSocketAddress host) throws Exception {
		return Stream.of(InetAddress.getAllByName(host.getHostString()))
			.map((address) -> new InetSocketAddress(address, host.getPort()))
			.collect(Collectors.toUnmodifiableSet());
	}

	private synchronized @Nullable SocketAddress ask(RedisClient client, SentinelConfiguration sentinels)
			throws Exception {
		if (System.nanoTime() - this.askAt < 0 || sentinels.getMaster() == null) {
			return null;
		}
		try {
			if (this.sentinel == null) {
				this.askAt = System.nanoTime() + OUTAGE_PAUSE;
				this.sentinel = client.connectSentinel();
				this.askAt = System.nanoTime();
			}
			return this.sentinel.async()
				.getMasterAddrByName(sentinels.getMaster().getName())
				.get(LockConnections.LONGEST_ANSWER.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (Exception ex) {
			// Another sentinel may answer
			close();
			throw ex;
		}
	}

	/**
	 * Close the connection to a sentinel. The next look asks the first one that can be
	 * reached, as the driver does for each new connection: another one may know more, or
	 * less.
	 */
	synchronized void close() {
		if (this.sentinel != null) {
			this.sentinel.closeAsync();
			this.sentinel = null;
		}
	}

}
