// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisSocketConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

class LettuceLockConnectionsTests {

	static Stream<RedisConfiguration> servers() {
		return Stream.of(new RedisStandaloneConfiguration("redis.example", 6380), new RedisSocketConfiguration("redis"),
				new RedisSentinelConfiguration().master("shop").sentinel("redis.example", 26379),
				new RedisClusterConfiguration(List.of("redis.example:7000")),
				new RedisStaticMasterReplicaConfiguration("redis.example", 6380));
	}

	@ParameterizedTest
	@MethodSource("servers")
	void theLocksAreOnTheServersOfTheApplication(RedisConfiguration servers) {
		try (LockConnections own = LockConnections.derivedFrom(new LettuceConnectionFactory(servers))) {
			assertThat(own.scripts()).isInstanceOf(LettuceScriptConnection.class);
			assertThat(new DirectFieldAccessor(factoryOf(own)).getPropertyValue("configuration")).isSameAs(servers);
		}
	}

	/** An outage may be noticed before anything is known of the servers. */
	@Test
	void theAddressNamesTheServersOfTheApplicationWithoutConnecting() {
		assertThat(servers().map(LettuceConnectionFactory::new).map(LockConnections::addressOf)).containsExactly(
				"redis.example:6380, database 0", "redis, database 0",
				"'shop' of the sentinels [redis.example:26379], database 0", "the cluster of [redis.example:7000]",
				"redis.example:6380, database 0");
	}

	@Test
	void theAddressOfServersBehindJedisNamesNoPassword() {
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("redis.example", 6380);
		server.setDatabase(3);
		server.setUsername("app");
		server.setPassword("secret");
		RedisClusterConfiguration cluster = new RedisClusterConfiguration(List.of("redis.example:7000"));
		RedisSentinelConfiguration sentinels = new RedisSentinelConfiguration().master("shop")
			.sentinel("redis.example", 26379);
		assertThat(Stream
			.of(new JedisConnectionFactory(server), new JedisConnectionFactory(cluster),
					new JedisConnectionFactory(sentinels))
			.map(LockConnections::addressOf)).containsExactly("redis.example:6380, database 3",
					"the cluster of [redis.example:7000]", "'shop' of the sentinels [redis.example:26379], database 0");
	}

	@Test
	void theSettingsOfTheApplicationAreKeptExceptWhereALockNeedsOthers() {
		LettuceClientConfiguration settings = LettuceClientConfiguration.builder()
			.useSsl()
			.and()
			.clientName("shop")
			.commandTimeout(Duration.ofSeconds(60))
			.readFrom(ReadFrom.REPLICA)
			.build();
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("redis.example", 6380);
		try (LockConnections own = LockConnections.derivedFrom(new LettuceConnectionFactory(server, settings))) {
			LettuceClientConfiguration derived = factoryOf(own).getClientConfiguration();
			assertThat(derived.isUseSsl()).isTrue();
			assertThat(derived.getClientName()).hasValue("shop");
			assertThat(derived.getReadFrom()).isEmpty();
			assertThat(derived.getCommandTimeout()).isEqualTo(Duration.ofSeconds(2));
			assertThat(derived.getClientOptions().orElseThrow().getDisconnectedBehavior())
				.isEqualTo(DisconnectedBehavior.REJECT_COMMANDS);
		}
	}

	@Test
	void theThreadsOfTheApplicationOutliveTheConnectionsOfTheLocks() {
		ClientResources resources = DefaultClientResources.create();
		try {
			LettuceClientConfiguration settings = LettuceClientConfiguration.builder()
				.clientResources(resources)
				.build();
			LockConnections
				.derivedFrom(new LettuceConnectionFactory(new RedisStandaloneConfiguration("redis.example"), settings))
				.close();
			assertThat(resources.eventExecutorGroup().isShuttingDown()).isFalse();
			assertThat(resources.timer().newTimeout((timeout) -> {
			}, 1, TimeUnit.HOURS).cancel()).isTrue();
		}
		finally {
			resources.shutdown(0, 1, TimeUnit.SECONDS);
		}
	}

	private static LettuceConnectionFactory factoryOf(LockConnections connections) {
		Object factory = new DirectFieldAccessor(connections.scripts()).getPropertyValue("factory");
		return (LettuceConnectionFactory) Objects.requireNonNull(factory);
	}

	@Test
	void factoriesThatAreNotKnownAreUsedAsTheyAre() {
		for (RedisConnectionFactory other : List.of(new JedisConnectionFactory(), new LettuceConnectionFactory() {
		})) {
			assertThat(new DirectFieldAccessor(LockConnections.derivedFrom(other).scripts())
				.getPropertyValue("connections")).isSameAs(other);
		}
	}

}
