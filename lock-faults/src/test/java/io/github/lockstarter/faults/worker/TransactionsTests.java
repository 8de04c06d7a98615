// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockLostException;
import io.github.lockstarter.faults.worker.Ledger.Balance;
import io.github.lockstarter.faults.worker.LockClient.Held;
import io.github.lockstarter.faults.worker.Transactions.Moment;
import io.github.lockstarter.faults.worker.Transactions.Pause;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The ledger finds each update that was lost, and no other one.
 */
class TransactionsTests {

	private static String url;

	private static Ledger ledger;

	private static Transactions transactions;

	private final String key = UUID.randomUUID().toString();

	@BeforeAll
	static void start() throws Exception {
		url = SharedServers.postgres();
		ledger = new Ledger(url);
		ledger.createTables();
		transactions = transactions(Competitor.REDISSON);
	}

	@AfterAll
	static void stop() throws Exception {
		transactions.close();
	}

	@BeforeEach
	void create() {
		ledger.create(this.key);
	}

	@Test
	void nothingIsLostIfOneFollowsTheOther() {
		increment("first", (moment) -> {
		});
		increment("second", at(Moment.BEFORE_BEGIN, () -> another("third")));
		assertThat(ledger.balance(this.key)).isEqualTo(new Balance(3, 0));
		assertThat(ledger.twins(this.key)).isEmpty();
	}

	@Test
	void anUpdateIsLostIfAnotherOneComesBetweenReadAndWrite() {
		increment("late", at(Moment.BEFORE_WRITE, () -> another("other")));
		assertThat(ledger.balance(this.key)).isEqualTo(new Balance(2, 1));
		assertThat(ledger.twins(this.key)).containsExactly("other with token 5 has read 0",
				"late with token 7 has read 0");
	}

	@Test
	void anUpdateIsLostIfAnotherOneReadsBeforeTheCommit() {
		CountDownLatch read = new CountDownLatch(1);
		CompletableFuture<?>[] other = new CompletableFuture<?>[1];
		increment("late", at(Moment.BEFORE_COMMIT, () -> {
			other[0] = CompletableFuture
				.runAsync(() -> transactions.increment(this.key, "other", 5, at(Moment.BEFORE_WRITE, read::countDown)));
			await(read);
		}));
		other[0].join();
		assertThat(ledger.balance(this.key)).isEqualTo(new Balance(2, 1));
	}

	@Test
	void whatIsRolledBackAtAnyMomentIsNotLost() {
		for (Moment moment : Moment.values()) {
			assertThatIllegalStateException().isThrownBy(() -> increment("failing", at(moment, () -> {
				throw new IllegalStateException();
			})));
		}
		increment("next", (moment) -> {
		});
		assertThat(ledger.balance(this.key)).isEqualTo(new Balance(1, 0));
	}

	/**
	 * Neither owner knows that the store has forgotten the first one.
	 */
	@Test
	@FullProfileOnly
	void aTransactionThatBeginsAfterThatOfALaterOwnerIsRefused() throws Exception {
		try (RedisServer redis = RedisServer.start();
				LockClient first = connect(redis);
				LockClient second = connect(redis);
				Transactions fenced = transactions(Competitor.OURS)) {
			Held late = first.tryLock(this.key, Duration.ZERO);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> fenced.increment(this.key, "late", late.token(), at(Moment.BEFORE_BEGIN, () -> {
					redis.command("FLUSHALL");
					CompletableFuture.runAsync(() -> incrementUnderLock(second, fenced)).join();
				})));
			assertThat(ledger.balance(this.key)).isEqualTo(new Balance(1, 0));
			unlockLost(late);
		}
	}

	/**
	 * Otherwise the end of its client would wait for it. Whether the release knows of the
	 * loss depends on which is first.
	 */
	private static void unlockLost(Held late) throws Exception {
		try {
			late.unlock();
		}
		catch (LockLostException ex) {
			assertThat(ex).hasMessageContaining("was lost");
		}
	}

	private static LockClient connect(RedisServer redis) {
		LockClient client = OurClient.onRedis(
				SpringConnections
					.withLettuce(new ServerAddress(ServerAddress.Kind.SINGLE, List.of("127.0.0.1:" + redis.port()))),
				Duration.ofMinutes(1), 0);
		// The first connection of a JVM may take seconds on a busy machine
		Awaitility.await().atMost(Duration.ofMinutes(1)).ignoreExceptions().until(() -> {
			client.tryLock(UUID.randomUUID().toString(), Duration.ZERO).unlock();
			return true;
		});
		return client;
	}

	private void incrementUnderLock(LockClient client, Transactions transactions) {
		try {
			Held held = client.tryLock(this.key, Duration.ZERO);
			transactions.increment(this.key, "later", held.token(), (moment) -> {
			});
			held.unlock();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static Transactions transactions(Competitor competitor) {
		return new Transactions(DatabasePool.to(url, 2), new TransactionGuards(competitor));
	}

	private void increment(String owner, Pause pause) {
		transactions.increment(this.key, owner, 7, pause);
	}

	private void another(String owner) {
		CompletableFuture.runAsync(() -> transactions.increment(this.key, owner, 5, (moment) -> {
		})).join();
	}

	private static Pause at(Moment chosen, Runnable action) {
		return (moment) -> {
			if (moment == chosen) {
				action.run();
			}
		};
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
