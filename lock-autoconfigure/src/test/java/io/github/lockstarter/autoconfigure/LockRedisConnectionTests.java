// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.Arrays;
import java.util.List;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.ClusterClientOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.servers.RedisCluster;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The connection of the locks in an application without a connection factory.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockRedisConnectionTests {

	private static final String PREFIX = "spring.data.redis.";

	/**
	 * The first connection of a JVM may take longer than a caller waits for an answer.
	 */
	private final ApplicationContextRunner locks = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, DistributedLockAutoConfiguration.class))
		.withPropertyValues("distributed-lock.wait-time=1m", "distributed-lock.waiting.outage-time=1m");

	private final ApplicationContextRunner springBoot = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, DataRedisAutoConfiguration.class));

	@Test
	void locksAreInRedisThoughTheApplicationHasNoConnectionFactory(CapturedOutput output) {
		try (RedisServer redis = RedisServer.start()) {
			redis.command("ACL", "SETUSER", "shop", "on", ">p@ss", "~*", "&*", "+@all");
			this.locks.withPropertyValues(PREFIX + "url=redis://shop:p%40ss@127.0.0.1:" + redis.port() + "/3")
				.run((context) -> {
					assertThat(context).hasNotFailed().doesNotHaveBean(RedisConnectionFactory.class);
					Lease lease = context.getBean(LockRegistry.class).acquire(LockRequest.of("stock", 1001));
					assertThat(lease.isHeld()).isTrue();
					lease.close();
				});
		}
		assertThat(output).containsOnlyOnce("their own connection to Redis")
			.contains("org.springframework.boot:spring-boot-starter-data-redis");
	}

	@Test
	@FullProfileOnly
	void locksAreInAClusterAsWell() {
		try (RedisCluster cluster = RedisCluster.start()) {
			this.locks.withPropertyValues(PREFIX + "cluster.nodes=" + String.join(",", cluster.addresses()))
				.run((context) -> {
					LockRegistry registry = context.getBean(LockRegistry.class);
					for (int i = 0; i < 10; i++) {
						registry.acquire(LockRequest.of("stock", i)).close();
					}
				});
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "port=6380", "host=redis,port=1,database=7", "username=shop,password=secret",
			"url=redis://secret@redis:6380", "url=redis://shop:se:cret@redis:6380/4,host=other,port=1,database=1",
			"url=rediss://redis:6380/", "timeout=3s,connect-timeout=700ms,client-name=shop", "ssl.enabled=true",
			"ssl.bundle=web", "ssl.bundle=web,ssl.enabled=false", "client-type=lettuce",
			"sentinel.master=m,sentinel.nodes=a:1;b:2,sentinel.username=su,sentinel.password=sp,password=p,database=2",
			"sentinel.master=m,sentinel.nodes=a:1,url=redis://u:p@h:1/5", "cluster.nodes=a:1;b:2,password=p",
			"cluster.nodes=a:1,cluster.max-redirects=2,lettuce.cluster.refresh.period=9s",
			"cluster.nodes=a:1,lettuce.cluster.refresh.dynamic-refresh-sources=false",
			"masterreplica.nodes=a:1;b:2,username=u,password=p", "masterreplica.nodes=a:1,database=3" })
	void settingsMeanWhatSpringBootMakesOfThem(String settings) {
		String[] properties = settings.replace(",", "," + PREFIX).transform((text) -> PREFIX + text).split(",");
		for (int i = 0; i < properties.length; i++) {
			properties[i] = properties[i].replace(';', ',');
		}
		String bundle = "spring.ssl.bundle.pem.web.options.enabled-protocols=TLSv1.3";
		this.springBoot.withPropertyValues(properties).withPropertyValues(bundle).run((context) -> {
			LettuceConnectionFactory expected = context.getBean(LettuceConnectionFactory.class);
			RedisConnectionFactory actual = LockRedisConnection
				.create(LockRedisProperties.from(context.getEnvironment()), context.getBeanProvider(SslBundles.class));
			assertThat(describe((LettuceConnectionFactory) actual)).isEqualTo(describe(expected));
		});
	}

	private static List<Object> describe(LettuceConnectionFactory factory) {
		LettuceClientConfiguration client = factory.getClientConfiguration();
		ClientOptions options = client.getClientOptions().orElseThrow();
		Object refresh = (options instanceof ClusterClientOptions cluster)
				? List.of(cluster.getTopologyRefreshOptions().useDynamicRefreshSources(),
						cluster.getTopologyRefreshOptions().isPeriodicRefreshEnabled(),
						cluster.getTopologyRefreshOptions().getRefreshPeriod())
				: "";
		return List.of(new DirectFieldAccessor(factory).getPropertyValue("configuration"), client.isUseSsl(),
				client.getVerifyMode(), client.getClientName(), client.getCommandTimeout(),
				options.getSocketOptions().getConnectTimeout(), options.getTimeoutOptions().isTimeoutCommands(),
				Arrays.toString(options.getSslOptions().getProtocols()), refresh);
	}

	@ParameterizedTest
	@ValueSource(strings = { "url=http://redis", "url=redis:", "url=redis://user:secret@a b", "url=redis://redis/seven",
			"cluster.nodes=redis:high", "cluster.nodes=", "client-type=jedis", "port=high" })
	void whatCannotWorkEndsTheStartWithTheNameOfTheProperty(String setting) {
		this.locks.withPropertyValues(PREFIX + setting)
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining(PREFIX + setting.substring(0, setting.indexOf('=')))
				.satisfies((failure) -> assertThat(failure.toString()).doesNotContain("secret")));
	}

	@Test
	void withoutLettuceTheStartEndsWithWhatToAdd() {
		this.locks.withClassLoader(new FilteredClassLoader(RedisClient.class))
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("nor Lettuce on the class path"));
	}

	@Test
	void settingsCanBeReadInNativeImages() {
		RuntimeHints hints = new RuntimeHints();
		new LockRedisRuntimeHints().registerHints(hints, null);
		assertThat(RuntimeHintsPredicates.reflection().onType(LockRedisProperties.Cluster.class).test(hints)).isTrue();
	}

}
