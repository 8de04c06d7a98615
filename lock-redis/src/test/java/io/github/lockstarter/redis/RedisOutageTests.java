// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.assertj.core.api.AbstractThrowableAssert;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Redis is killed, started again empty, silent, or loses connections, subscriptions and
 * scripts, while locks are asked for, held and waited for.
 */
@Tag("clock")
class RedisOutageTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	private static final LockRequest AT_ONCE = REQUEST.withWaitTime(Duration.ZERO);

	private static final String REDIS_KEY = "lock:{stock:1001}";

	private static final Duration SHORT = Duration.ofMillis(100);

	/**
	 * Less than the defaults, because each silence of the server costs a test as long.
	 */
	private static final Duration LONGEST_ANSWER = Duration.ofSeconds(1);

	/** Where the server has to be silent for that long, and for nothing else. */
	private static final Duration SHORT_ANSWER = Duration.ofMillis(300);

	/** An outage is over after a tenth of it. */
	private static final Duration LEASE_TIME = Duration.ofSeconds(10);

	abstract static class Outage {

		final RedisServer redis = RedisServer.start();

		/** Reports an outage soon. */
		final RedisRegistry registry = create(outageTime(LONGEST_ANSWER));

		/** Waits until an outage is over, and learns of a loss soon. */
		final RedisRegistry patient = create(RedisRegistry.often(Duration.ofSeconds(8)));

		private final ListAppender<ILoggingEvent> log = new ListAppender<>();

		abstract RedisRegistry create(EngineSettings settings);

		abstract RedisRegistry create(String user, String password);

		/** The message of the driver after the server is gone. */
		abstract String disconnected();

		private static EngineSettings outageTime(Duration outageTime) {
			EngineSettings defaults = EngineSettings.DEFAULTS;
			return new EngineSettings(defaults.waitTime(), LEASE_TIME, 3, defaults.pollInterval(),
					defaults.pollIntervalWithoutMessages(), defaults.timeSlice(), defaults.shutdownTimeout(),
					outageTime);
		}

		@BeforeEach
		void readTheLog() {
			this.log.start();
			rootLogger().addAppender(this.log);
		}

		@AfterEach
		void close() {
			rootLogger().detachAppender(this.log);
			this.redis.resume();
			this.registry.close();
			this.patient.close();
			this.redis.close();
		}

		@Test
		void whileRedisIsSilentEachWaitEndsAndAfterwardsTheNextCallerGetsTheLock() throws Exception {
			try (RedisRegistry impatient = create(outageTime(SHORT_ANSWER))) {
				for (int round = 0; round < 2; round++) {
					// In the first round, there was no connection before
					this.redis.pause();
					List<Call<Lease>> calls = new ArrayList<>();
					for (int i = 0; i < 10; i++) {
						calls.add(call(impatient, LockRequest.of("stock", i), SHORT));
					}
					for (Call<Lease> call : calls) {
						assertUnavailable(call);
					}
					this.redis.resume();
					connect(impatient);
				}
			}
		}

		@Test
		void whileRedisIsDownALockIsUnavailableForAReasonAndNotContended() throws Exception {
			this.redis.kill();
			assertUnavailable(call(REQUEST, SHORT)).hasMessageContaining("Connection refused")
				.hasMessageContaining(String.valueOf(this.redis.port()))
				.hasStackTraceContaining("ConnectException");
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> this.registry.tryAcquire(AT_ONCE));
			this.redis.restart();
			connect();
			try (Lease lease = this.patient.acquire(REQUEST)) {
				SafetyViolation.check(this.registry.tryAcquire(AT_ONCE).isEmpty() || !lease.isHeld(),
						"'%s' was granted while another owner has it", lease.key());
			}
		}

		@Test
		void aWrongPasswordIsReportedAsSuch() {
			this.redis.command("ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+@all");
			try (RedisRegistry mistaken = create("app", "wrong")) {
				// Lettuce closes the connection, and may report that first
				Awaitility.await()
					.untilAsserted(() -> assertThatExceptionOfType(LockUnavailableException.class)
						.isThrownBy(() -> mistaken.acquire(REQUEST.withWaitTime(SHORT)))
						.withMessageContaining("WRONGPASS invalid username-password pair"));
			}
		}

		@Test
		void anOutageIsLoggedOnceAndItsEndAsWell() throws Exception {
			connect();
			this.registry.acquire(REQUEST).close();
			awaitListeners(1);
			Awaitility.await().until(() -> this.redis.command("EXISTS", REDIS_KEY).equals("0"));
			this.log.list.clear();
			this.redis.kill();
			for (Duration waitTime : List.of(Duration.ofMinutes(1), SHORT)) {
				List<Call<Lease>> calls = new ArrayList<>();
				for (int i = 0; i < 5; i++) {
					calls.add(call(LockRequest.of("stock", i), waitTime));
				}
				for (Call<Lease> call : calls) {
					assertUnavailable(call);
				}
			}
			assertThat(ofOurs(Level.WARN)).singleElement()
				.asString()
				.contains(disconnected(), "127.0.0.1:" + this.redis.port() + ", database 0");
			assertThat(ofAllBut("io.lettuce")).hasSizeLessThan(6);
			this.redis.restart();
			connect();
			connect();
			Awaitility.await()
				.untilAsserted(() -> assertThat(ofOurs(Level.INFO)).filteredOn((line) -> line.contains("answers again"))
					.hasSize(1));
			assertThat(ofOurs(Level.WARN)).hasSize(1);
		}

		@Test
		void afterTheEndNoThreadIsLeft() throws Exception {
			this.redis.pause();
			Call<Lease> waiter = call(REQUEST, Duration.ofSeconds(20));
			Awaitility.await().until(() -> Thread.getAllStackTraces().keySet().stream().anyMatch(Outage::isOurs));
			this.registry.close();
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(waiter::get);
			this.redis.resume();
			Awaitility.await().until(() -> Thread.getAllStackTraces().keySet().stream().noneMatch(Outage::isOurs));
		}

		@Test
		void aHolderLearnsOfTheLossAndWaitersGetTheLockWhenRedisIsBack() throws Exception {
			Lease lease = this.patient.acquire(REQUEST);
			try (RedisRegistry other = create(RedisRegistry.SETTINGS)) {
				List<Call<Long>> waiters = new ArrayList<>();
				for (int i = 0; i < 4; i++) {
					RedisRegistry waiting = (i % 2 == 0) ? this.patient : other;
					waiters.add(Callers.start(() -> {
						try (Lease held = waiting.acquire(REQUEST)) {
							return held.fencingToken();
						}
					}).awaitParked());
				}
				this.redis.kill();
				awaitEvent(LockEvent.Suspect.class);
				this.redis.restart();
				awaitEvent(LockEvent.Lost.class);
				assertThat(lease.isHeld()).isFalse();
				assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
				for (Call<Long> waiter : waiters) {
					long token = waiter.get();
					SafetyViolation.check(token > lease.fencingToken(), "token %d after %d", token,
							lease.fencingToken());
				}
			}
		}

		@Test
		void aReleaseWhileRedisIsDownIsNoErrorAndLocksNobodyOut() {
			Lease lease = this.registry.acquire(REQUEST);
			this.redis.kill();
			lease.close();
			this.redis.restart();
			this.patient.acquire(REQUEST).close();
		}

		@Test
		void renewalGoesOnWhenRedisAcceptsWritesAgain() {
			Lease lease = this.patient.acquire(REQUEST);
			this.redis.command("CONFIG", "SET", "min-replicas-to-write", "1");
			awaitEvent(LockEvent.Suspect.class);
			this.redis.command("CONFIG", "SET", "min-replicas-to-write", "0");
			awaitEvent(LockEvent.Recovered.class);
			long renewals = this.redis.calls("pexpire");
			Awaitility.await().until(() -> this.redis.calls("pexpire") > renewals);
			lease.close();
			assertThat(this.patient.events()).noneMatch(LockEvent.Lost.class::isInstance);
		}

		@Test
		void messagesArriveFromTheFirstWaiterOnAndAgainAfterARestart() throws Exception {
			try (RedisRegistry waiting = create(RedisRegistry.withoutPolling())) {
				for (int round = 0; round < 2; round++) {
					Lease lease = this.patient.acquire(REQUEST);
					Call<Boolean> waiter = startWaiter(waiting);
					lease.close();
					assertThat(waiter.get()).isTrue();
					this.redis.kill();
					this.redis.restart();
				}
			}
		}

		@Test
		void waitersAskAgainWhenTheirSubscriptionWasLost() throws Exception {
			this.redis.command("SET", REDIS_KEY, "somebody");
			try (RedisRegistry waiting = create(RedisRegistry.withoutPolling())) {
				Call<Boolean> waiter = startWaiter(waiting);
				// A release without a message, as if that was lost with the subscription
				this.redis.command("DEL", REDIS_KEY);
				this.redis.command("CLIENT", "KILL", "TYPE", "pubsub");
				assertThat(waiter.get()).isTrue();
			}
		}

		@Test
		void aLockWhoseScriptsWereForgottenIsFreeForTheSameInstanceAfterItsRelease() {
			for (int i = 0; i < 20; i++) {
				this.redis.command("SCRIPT", "FLUSH");
				this.patient.acquire(REQUEST).close();
				assertThat(this.patient.tryAcquire(AT_ONCE)).as("acquisition " + i).hasValueSatisfying(Lease::close);
			}
		}

		private static boolean isOurs(Thread thread) {
			return thread.getName().startsWith("lock-signal") || thread.getName().startsWith("lock-connect");
		}

		/**
		 * Make the server answer once, for which a busy machine may need a second try.
		 */
		final void connect() {
			connect(this.registry);
		}

		private static void connect(RedisRegistry registry) {
			Awaitility.await().ignoreException(LockUnavailableException.class).until(() -> {
				registry.tryAcquire(AT_ONCE).ifPresent(Lease::close);
				return true;
			});
		}

		final Call<Lease> call(LockRequest request, Duration waitTime) {
			return call(this.registry, request, waitTime);
		}

		private static Call<Lease> call(RedisRegistry registry, LockRequest request, Duration waitTime) {
			return Callers.start(() -> registry.acquire(request.withWaitTime(waitTime)));
		}

		private Call<Boolean> startWaiter(RedisRegistry waiting) throws InterruptedException {
			Call<Boolean> waiter = Callers.start(() -> {
				waiting.acquire(REQUEST).close();
				return true;
			}).awaitParked();
			Awaitility.await().until(() -> this.redis.command("EXISTS", REDIS_KEY + ":queue").equals("1"));
			return waiter;
		}

		private void awaitListeners(long listeners) {
			Awaitility.await()
				.until(() -> this.redis.command("PUBSUB", "CHANNELS")
					.lines()
					.filter((channel) -> channel.contains("wake"))
					.count() >= listeners);
		}

		private void awaitEvent(Class<? extends LockEvent> type) {
			Awaitility.await().until(() -> this.patient.events().stream().anyMatch(type::isInstance));
		}

		private List<String> ofOurs(Level level) {
			return List.copyOf(this.log.list)
				.stream()
				.filter((event) -> event.getLevel() == level
						&& event.getLoggerName().startsWith("io.github.lockstarter"))
				.map(ILoggingEvent::getFormattedMessage)
				.toList();
		}

		private List<String> ofAllBut(String logger) {
			return List.copyOf(this.log.list)
				.stream()
				.filter((event) -> event.getLevel().isGreaterOrEqual(Level.INFO)
						&& !event.getLoggerName().startsWith(logger))
				.map(ILoggingEvent::toString)
				.toList();
		}

		private static Logger rootLogger() {
			return (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
		}

	}

	@Nested
	class WithLettuce extends Outage {

		@Override
		RedisRegistry create(EngineSettings settings) {
			Duration longestAnswer = (settings.outageTime().compareTo(LONGEST_ANSWER) < 0) ? settings.outageTime()
					: LONGEST_ANSWER;
			return RedisRegistry.of(RedisRegistry.connections(RedisRegistry.server(this.redis.port()), longestAnswer,
					longestAnswer.multipliedBy(2)), settings);
		}

		@Override
		RedisRegistry create(String user, String password) {
			return RedisRegistry.lettuce(this.redis, user, password);
		}

		@Override
		String disconnected() {
			return "not connected";
		}

		@Test
		void anInterruptEndsAWaitForTheFirstConnectionAndConcernsNobodyElse() throws Exception {
			this.redis.pause();
			Call<Lease> interrupted = call(REQUEST, Duration.ZERO).awaitParked();
			Call<Lease> other = call(LockRequest.of("stock", 1002), Duration.ZERO).awaitParked();
			interrupted.thread().interrupt();
			assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(interrupted::get);
			this.redis.resume();
			other.get().close();
		}

		@Test
		void aNewServerKnowsTheScriptsBeforeTheyAreNeeded() {
			connect();
			this.redis.kill();
			this.redis.restart();
			List<String> command = new ArrayList<>(List.of("SCRIPT", "EXISTS"));
			Stream.of(LockScript.values()).map(LockScript::digest).forEach(command::add);
			Awaitility.await().until(() -> !this.redis.command(command.toArray(String[]::new)).contains("0"));
		}

	}

	@Nested
	@FullProfileOnly
	class WithJedis extends Outage {

		@Override
		RedisRegistry create(EngineSettings settings) {
			return RedisRegistry.of(new JedisConnectionFactory(RedisRegistry.server(this.redis.port())), settings);
		}

		@Override
		RedisRegistry create(String user, String password) {
			return RedisRegistry.jedis(this.redis, user, password);
		}

		@Override
		String disconnected() {
			return "Connection refused";
		}

	}

	private static AbstractThrowableAssert<?, ? extends Throwable> assertUnavailable(Call<?> call) throws Exception {
		Throwable failure = catchThrowable(call::get);
		SafetyViolation.check(failure != null, "a server that cannot answer has granted a lock");
		return assertThat(failure).isInstanceOf(LockUnavailableException.class);
	}

}
