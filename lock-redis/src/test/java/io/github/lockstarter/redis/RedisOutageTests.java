// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.assertj.core.api.AbstractThrowableAssert;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSetRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.testsupport.EmbeddedRedis;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The failures of callers, and their timing, while Redis is down or does not answer,
 * above all before the first connection.
 */
class RedisOutageTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	private static final LockRequest OTHER = LockRequest.of("stock", 1002);

	private static final Duration SHORT = Duration.ofMillis(100);

	/** The time-out of an attempt, with some patience for a busy machine. */
	private static final Duration ONE_ATTEMPT = Duration.ofMillis(3500);

	abstract static class Outage {

		final EmbeddedRedis redis = EmbeddedRedis.start();

		final RedisRegistry registry = create();

		private final ListAppender<ILoggingEvent> log = new ListAppender<>();

		abstract RedisRegistry create();

		abstract RedisRegistry create(String user, String password);

		/** The message of the driver after the server is gone. */
		abstract String disconnected();

		/** The time within which each of some callers is answered by a silent server. */
		Duration answerTo(int callers) {
			return ONE_ATTEMPT;
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
			this.redis.close();
		}

		@Test
		void waitsEndInTimeIfRedisWasKilledBeforeTheFirstWaiter() throws Exception {
			connect();
			this.redis.kill();
			List<Call<Lease>> calls = List.of(call(REQUEST, SHORT), call(OTHER, SHORT));
			for (Call<Lease> call : calls) {
				assertUnavailable(call, ONE_ATTEMPT);
			}
		}

		@Test
		void waitsEndInTimeIfRedisWasSilentBeforeTheFirstWaiter() throws Exception {
			connect();
			this.redis.pause();
			List<Call<Lease>> calls = List.of(call(REQUEST, SHORT), call(OTHER, SHORT));
			for (Call<Lease> call : calls) {
				assertUnavailable(call, answerTo(2));
			}
		}

		@Test
		void waitsEndInTimeIfRedisIsSilentFromTheStart() throws Exception {
			this.redis.pause();
			List<Call<Lease>> calls = new ArrayList<>();
			for (int i = 0; i < 10; i++) {
				calls.add(call(LockRequest.of("stock", i), SHORT));
			}
			for (Call<Lease> call : calls) {
				assertUnavailable(call, answerTo(10));
			}
		}

		@Test
		void severalLocksTogetherAreRefusedAfterOneAttempt() throws Exception {
			this.redis.pause();
			LockSetRequest both = LockSetRequest.of("stock", List.of(1, 2));
			for (Duration waitTime : List.of(Duration.ZERO, SHORT)) {
				LockSetRequest request = both.withWaitTime(waitTime);
				assertUnavailable(Callers.start(() -> this.registry.acquireAll(request)), answerTo(1));
			}
		}

		@Test
		void whenRedisIsBackTheNextCallerGetsTheLock() throws Exception {
			this.redis.kill();
			assertUnavailable(call(REQUEST, SHORT), ONE_ATTEMPT);
			this.redis.restart();
			connect();
			this.redis.pause();
			assertUnavailable(call(REQUEST, SHORT), answerTo(1));
			this.redis.resume();
			connect();
		}

		@Test
		void aRefusedConnectionIsReportedSoonAndWithItsCause() throws Exception {
			this.redis.kill();
			assertUnavailable(call(REQUEST, Duration.ofMinutes(1)), Duration.ofSeconds(15))
				.hasMessageContaining("Connection refused")
				.hasMessageContaining(String.valueOf(this.redis.port()))
				.hasStackTraceContaining("ConnectException");
		}

		@Test
		void aWrongPasswordIsReportedAsSuch() throws Exception {
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
		void allWaitersOfOneLockAreNotifiedTogether() throws Exception {
			this.redis.kill();
			List<Call<Lease>> calls = new ArrayList<>();
			for (int i = 0; i < 10; i++) {
				calls.add(call(REQUEST, Duration.ofMinutes(1)));
			}
			long end = System.nanoTime() + Duration.ofSeconds(12).toNanos();
			for (Call<Lease> call : calls) {
				// One after another they would take twenty seconds
				assertUnavailable(call, Duration.ofNanos(end - System.nanoTime()));
			}
		}

		@Test
		void anOutageIsLoggedOnceAndItsEndAsWell() throws Exception {
			connect();
			this.registry.acquire(REQUEST).close();
			Awaitility.await().until(() -> this.redis.command("PUBSUB", "CHANNELS").contains("wake"));
			Awaitility.await().until(() -> this.redis.command("EXISTS", "lock:{stock:1001}").equals("0"));
			this.log.list.clear();
			this.redis.kill();
			for (int round = 0; round < 2; round++) {
				List<Call<Lease>> calls = new ArrayList<>();
				for (int i = 0; i < 5; i++) {
					calls.add(call(LockRequest.of("stock", i), Duration.ofMinutes(1)));
				}
				for (Call<Lease> call : calls) {
					assertUnavailable(call, Duration.ofSeconds(15));
				}
			}
			assertThat(ofOurs(Level.WARN)).singleElement().asString().contains(disconnected());
			assertThat(ofAllBut("io.lettuce")).hasSizeLessThan(6);
			this.redis.restart();
			connect();
			connect();
			assertThat(ofOurs(Level.INFO)).filteredOn((line) -> line.contains("answers again")).hasSize(1);
			assertThat(ofOurs(Level.WARN)).hasSize(1);
		}

		@Test
		void afterTheEndNoThreadIsLeft() throws Exception {
			this.redis.pause();
			Call<Lease> waiter = call(REQUEST, Duration.ofSeconds(20));
			Awaitility.await().until(() -> Thread.getAllStackTraces().keySet().stream().anyMatch(Outage::isOurs));
			Call<Boolean> end = Callers.start(() -> {
				this.registry.close();
				return true;
			});
			end.result().get(15, TimeUnit.SECONDS);
			assertThat(waiter.result()).failsWithin(Duration.ofSeconds(15));
			this.redis.resume();
			Awaitility.await().until(() -> Thread.getAllStackTraces().keySet().stream().noneMatch(Outage::isOurs));
		}

		private static boolean isOurs(Thread thread) {
			return thread.getName().startsWith("lock-signal") || thread.getName().startsWith("lock-connect");
		}

		/**
		 * Make the server answer once, for which a busy machine may need a second try.
		 */
		final void connect() {
			Awaitility.await()
				.ignoreException(LockUnavailableException.class)
				.until(() -> this.registry.tryAcquire(REQUEST.withWaitTime(Duration.ZERO))
					.map(RedisOutageTests::close)
					.orElse(false));
		}

		final Call<Lease> call(LockRequest request, Duration waitTime) {
			return Callers.start(() -> this.registry.acquire(request.withWaitTime(waitTime)));
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
		RedisRegistry create() {
			return RedisRegistry.lettuce(this.redis, EngineSettings.DEFAULTS);
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
		void anInterruptEndsAWaitForTheFirstConnectionAtOnceAndConcernsNobodyElse() throws Exception {
			this.redis.pause();
			Call<Lease> interrupted = call(REQUEST, Duration.ZERO).awaitParked();
			Call<Lease> other = call(OTHER, Duration.ZERO).awaitParked();
			interrupted.thread().interrupt();
			assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(interrupted::get);
			this.redis.resume();
			other.get().close();
		}

		@Test
		void anInterruptEndsAWaitThatWouldSubscribe() throws Exception {
			connect();
			this.redis.kill();
			Call<Lease> waiter = call(REQUEST, Duration.ofSeconds(20)).awaitParked();
			waiter.thread().interrupt();
			long start = System.nanoTime();
			assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(waiter::get);
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMillis(1500));
		}

		@Test
		@FullProfileOnly
		void tryLockIsNotInterruptible() throws Exception {
			connect();
			this.redis.pause();
			Lock lock = this.registry.lock(KEY);
			Call<String> call = Callers.start(() -> lock.tryLock() + ", " + Thread.currentThread().isInterrupted())
				.awaitParked();
			call.thread().interrupt();
			Awaitility.await()
				.pollDelay(Duration.ZERO)
				.until(() -> !call.thread().isInterrupted() || call.result().isDone());
			this.redis.resume();
			assertThat(call.get()).isEqualTo("true, true");
		}

	}

	@Nested
	@FullProfileOnly
	class WithJedis extends Outage {

		@Override
		RedisRegistry create() {
			return RedisRegistry.jedis(this.redis, EngineSettings.DEFAULTS);
		}

		@Override
		RedisRegistry create(String user, String password) {
			return RedisRegistry.jedis(this.redis, user, password);
		}

		@Override
		String disconnected() {
			return "Connection refused";
		}

		/**
		 * Its pool replaces a broken connection on the caller's thread, and has no more
		 * than eight.
		 */
		@Override
		Duration answerTo(int callers) {
			return ONE_ATTEMPT.multipliedBy(2 * (1 + callers / 8));
		}

	}

	private static boolean close(Lease lease) {
		lease.close();
		return true;
	}

	private static AbstractThrowableAssert<?, ? extends Throwable> assertUnavailable(Call<?> call, Duration bound)
			throws Exception {
		Throwable failure = call.result().handle((lease, ex) -> ex).get(bound.toMillis(), TimeUnit.MILLISECONDS);
		return assertThat(failure).isInstanceOf(LockUnavailableException.class);
	}

}
