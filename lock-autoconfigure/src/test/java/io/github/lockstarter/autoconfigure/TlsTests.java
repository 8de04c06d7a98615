// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.servers.ServerPort;
import io.lettuce.core.RedisClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A Redis that accepts only TLS, with the Redis settings of the application.
 */
class TlsTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001).withWaitTime(Duration.ZERO);

	private static final int PORT = ServerPort.find();

	private static SelfSignedCertificate certificate;

	private static RedisServer redis;

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, DataRedisAutoConfiguration.class,
				DistributedLockAutoConfiguration.class))
		.withPropertyValues("spring.data.redis.port=" + PORT, "spring.data.redis.ssl.enabled=true");

	private final ApplicationContextRunner trusting = this.runner.withPropertyValues(
			"spring.ssl.bundle.pem.redis.truststore.certificate=file:" + certificate.certificate(),
			"spring.data.redis.ssl.bundle=redis");

	@BeforeAll
	static void start(@TempDir Path directory) throws Exception {
		certificate = SelfSignedCertificate.create(directory);
		String file = certificate.certificate().toString();
		redis = RedisServer.start("--tls-port", String.valueOf(PORT), "--tls-cert-file", file, "--tls-key-file",
				certificate.key().toString(), "--tls-ca-cert-file", file, "--tls-auth-clients", "no");
	}

	@AfterAll
	static void stop() {
		redis.close();
	}

	@Test
	void locksAndMessagesUseTheConnectionSettingsOfTheApplication() {
		this.trusting.run((context) -> {
			awaitConnection(context.getBean(LockRegistry.class));
			try (Lease lease = context.getBean(LockRegistry.class).acquire(REQUEST)) {
				assertThat(redis.command("EXISTS", "lock:{stock:1001}")).isEqualTo("1");
			}
			redis.command("SET", "lock:{stock:1001}", "somebody-else", "PX", "60000");
			CompletableFuture<Void> waiter = context.getBean(LockRegistry.class)
				.acquireAsync(REQUEST.withWaitTime(Duration.ofMinutes(1)))
				.thenCompose(Lease::closeAsync);
			Awaitility.await().until(() -> redis.command("PUBSUB", "CHANNELS").startsWith("lock:wake:"));
			redis.command("DEL", "lock:{stock:1001}");
			assertThat(waiter).succeedsWithin(Duration.ofSeconds(20));
		});
	}

	/** The first handshake of a JVM may exceed the time-out of a caller. */
	private static void awaitConnection(LockRegistry registry) {
		Awaitility.await().ignoreException(LockUnavailableException.class).until(() -> {
			registry.acquire(REQUEST).close();
			return true;
		});
	}

	@Test
	void locksUseTheConnectionSettingsOfTheApplicationWithJedis() {
		this.trusting.withClassLoader(new FilteredClassLoader(RedisClient.class)).run((context) -> {
			awaitConnection(context.getBean(LockRegistry.class));
			try (Lease lease = context.getBean(LockRegistry.class).acquire(REQUEST)) {
				assertThat(redis.command("EXISTS", "lock:{stock:1001}")).isEqualTo("1");
			}
		});
	}

	@Test
	void aServerThatIsNotTrustedGivesNoLock() {
		this.runner.run((context) -> assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> context.getBean(LockRegistry.class).acquire(REQUEST)));
	}

}
