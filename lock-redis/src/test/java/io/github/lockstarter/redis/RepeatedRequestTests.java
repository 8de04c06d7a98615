// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.servers.Network;
import io.github.lockstarter.servers.RedisCluster;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Connections that end after Redis has carried a request out and before its answer has
 * come. Some drivers then repeat the request unnoticed: this must not be reported to the
 * owner as a loss of the lock.
 */
class RepeatedRequestTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private static final String REDIS_KEY = "lock:{stock:1001}";

	private abstract static class Driver {

		@AutoClose
		final RedisServer redis = start();

		@AutoClose
		final Network network = Network.to(this.redis.port());

		@AutoClose
		final RedisRegistry registry = connect();

		RedisServer start() {
			return RedisServer.start();
		}

		/**
		 * Create a registry that reaches Redis through the network.
		 */
		abstract RedisRegistry connect();

		/**
		 * Load the scripts, so that the request is not refused as an unknown script, and
		 * open all connections, so that the one that ends was in use before.
		 */
		@BeforeEach
		void connectAndLoadScripts() {
			this.registry.awaitConnected(this.redis);
			for (LockScript script : LockScript.values()) {
				this.redis.command("SCRIPT", "LOAD", new String(script.text(), StandardCharsets.UTF_8));
			}
		}

		@Test
		void aReleaseIsNoLoss() {
			close(REQUEST, LockScript.RELEASE);
		}

		@Test
		void theReleaseOfAShareIsNoLoss() {
			close(REQUEST.withMode(LockMode.READ), LockScript.RELEASE_SHARED);
		}

		@Test
		void theWishToKeepTheLockIsNoLoss() {
			Lease lease = this.registry.acquire(REQUEST);
			lease.holdAtLeast(Duration.ofHours(1));
			closeWithoutAnswer(lease, LockScript.KEEP);
			assertThat(Long.parseLong(this.redis.command("PTTL", REDIS_KEY))).isGreaterThan(3_500_000);
			this.redis.command("DEL", REDIS_KEY);
		}

		@Test
		void anAcquisitionIsGrantedOnce() {
			this.registry.acquire(REQUEST).close();
			this.network.loseAnswerTo(LockScript.ACQUIRE.digest());
			this.registry.acquire(REQUEST).close();
			assertThat(this.network.lostAnswers()).isEqualTo(1);
			awaitFree();
		}

		private void close(LockRequest request, LockScript release) {
			closeWithoutAnswer(this.registry.acquire(request), release);
			awaitFree();
		}

		private void closeWithoutAnswer(Lease lease, LockScript script) {
			this.network.loseAnswerTo(script.digest());
			lease.close();
			Awaitility.await().until(() -> this.network.lostAnswers() == 1 && this.registry.backgroundActions() == 0);
			assertThat(this.registry.events()).noneMatch(LockEvent.Lost.class::isInstance);
		}

		private void awaitFree() {
			Awaitility.await().until(() -> this.redis.command("EXISTS", REDIS_KEY).equals("0"));
			assertThat(this.registry.events()).noneMatch(LockEvent.Lost.class::isInstance);
		}

	}

	private abstract static class StandaloneDriver extends Driver {

		RedisStandaloneConfiguration server() {
			return RedisRegistry.server(this.network.port());
		}

	}

	private abstract static class ClusterDriver extends Driver {

		@Override
		RedisServer start() {
			return RedisServer.startClusterNode();
		}

		RedisClusterConfiguration cluster() {
			RedisCluster.joinAlone(this.redis, this.network);
			return new RedisClusterConfiguration(List.of("127.0.0.1:" + this.network.port()));
		}

	}

	@Nested
	class OurLettuce extends StandaloneDriver {

		@Override
		RedisRegistry connect() {
			return RedisRegistry.of(RedisRegistry.connections(server()), RedisRegistry.SETTINGS);
		}

	}

	@Nested
	class LettuceOfTheApplication extends StandaloneDriver {

		@Override
		RedisRegistry connect() {
			return RedisRegistry.of(new SpecialLettuceConnectionFactory(server()), RedisRegistry.SETTINGS);
		}

		@Test
		void aReleaseIsRememberedForAMomentOnly() {
			this.registry.acquire(REQUEST).close();
			String released = this.redis.command("KEYS", REDIS_KEY + ":released:*");
			assertThat(Long.parseLong(this.redis.command("PTTL", released))).isBetween(1L, 10_000L);
		}

		@Test
		void aLossIsReportedThoughReleasesAreRemembered() {
			Lease lease = this.registry.acquire(REQUEST);
			this.redis.command("DEL", REDIS_KEY);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
		}

		@Test
		void theOwnerOfALockThatWasFreedLearnsOfItsLoss() {
			Lease lease = this.registry.acquire(REQUEST);
			assertThat(this.registry.free(lease)).isTrue();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
		}

	}

	@Nested
	@FullProfileOnly
	class Jedis extends StandaloneDriver {

		@Override
		RedisRegistry connect() {
			return RedisRegistry.of(new JedisConnectionFactory(server()), RedisRegistry.SETTINGS);
		}

	}

	@Nested
	@DisabledIfSystemProperty(named = "redis.version", matches = "6\\..*",
			disabledReason = "The port to announce cannot be changed later")
	@FullProfileOnly
	class OurLettuceInACluster extends ClusterDriver {

		@Override
		RedisRegistry connect() {
			return RedisRegistry.of(new LettuceConnectionFactory(cluster()), RedisRegistry.SETTINGS);
		}

	}

	@Nested
	@DisabledIfSystemProperty(named = "redis.version", matches = "6\\..*",
			disabledReason = "The port to announce cannot be changed later")
	@FullProfileOnly
	class JedisInACluster extends ClusterDriver {

		@Override
		RedisRegistry connect() {
			return RedisRegistry.of(new JedisConnectionFactory(cluster()), RedisRegistry.SETTINGS);
		}

	}

	/**
	 * A factory of the application's own, so that its connections are used as they are.
	 */
	private static final class SpecialLettuceConnectionFactory extends LettuceConnectionFactory {

		SpecialLettuceConnectionFactory(RedisStandaloneConfiguration server) {
			super(server);
		}

	}

}
