// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.github.lockstarter.sample.AbstractShopTests;
import io.github.lockstarter.sample.ShopClient;
import io.github.lockstarter.sample.ShopProbes.Commits;
import io.github.lockstarter.sample.ShopProcess;
import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.StockRepository;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two sales in the least favourable order: the first one commits only when the second
 * one, in the same instance or in another one, can go no further.
 */
class TwoSalesTests extends AbstractShopTests {

	private static final long PRODUCT = 1001;

	private static final Runnable NOTHING = () -> {
	};

	@Autowired
	private Map<String, DeductionStrategy> strategies;

	@Autowired
	private StockRepository stocks;

	@Autowired
	private JdbcClient jdbc;

	@Autowired
	private Commits commits;

	@ParameterizedTest
	@CsvSource(textBlock = """
			# strategy, what two sales of one instance leave, and two of different instances
			none, 9, 9
			reentrant-lock-prototype, 9, 9
			synchronized-in-transaction, 9, 9
			synchronized, 8, 9
			reentrant-lock, 8, 9
			conditional-update, 8, 8
			select-for-update, 8, 8
			optimistic-version, 8, 8
			""")
	void twoSalesLeave(String strategy, int ofOne, int ofTwo, @Autowired ShopProcess other) throws Exception {
		assertThat(remainingAfter(here(strategy), here(strategy), NOTHING)).isEqualTo(ofOne);
		assertThat(remainingAfter(here(strategy), there(strategy, other), NOTHING)).isEqualTo(ofTwo);
	}

	/**
	 * Redis loses its data in the middle of the first sale, as in a failover to a replica
	 * that has not got the lock yet, and the first instance does not know.
	 */
	@ParameterizedTest
	@CsvSource({ "distributed-lock, 9", "distributed-lock-fenced, 8", "distributed-lock-fenced-transaction, 8" })
	void onlyTheDatabaseRemembersTheOwnerOfALostLock(String strategy, int remaining, @Autowired ShopProcess other,
			@Autowired RedisConnectionFactory redis) throws Exception {
		// A claim that inserts the row of its lock waits where nobody can see it
		this.stocks.reset(PRODUCT, 10);
		here(strategy).task.run();
		assertThat(remainingAfter(here(strategy), there(strategy, other), () -> {
			try (RedisConnection connection = redis.getConnection()) {
				connection.serverCommands().flushDb();
			}
		})).isEqualTo(remaining);
	}

	@Test
	void anOptimisticSaleIsInVainIfSomebodyElseIsFaster() throws Exception {
		remainingAfter(here("optimistic-version"), here("optimistic-version"), NOTHING);
		assertThat(count("select attempts from failed_attempts where product_id = 1001")).isOne();
	}

	private Sale here(String strategy) {
		DeductionStrategy here = this.strategies.get(strategy);
		return new Sale(() -> here.deduct(PRODUCT, 1));
	}

	private static Sale there(String strategy, ShopProcess shop) {
		return new Sale(
				() -> assertThat(ShopClient.of(shop.port()).deduct(PRODUCT, "strategy=" + strategy).statusCode())
					.isEqualTo(200));
	}

	private int remainingAfter(Sale first, Sale second, Runnable between) throws Exception {
		this.stocks.reset(PRODUCT, 10);
		try (Commits.Held held = this.commits.hold(first.thread)) {
			first.thread.start();
			await(() -> held.reached().getCount() == 0 || first.task.isDone());
			between.run();
			second.thread.start();
			await(() -> second.waitsFor(first) || aTransactionWaits() || second.task.isDone());
		}
		first.thread.join();
		second.task.get();
		assertThat(count("select count(*) from orders where product_id = 1001")).isEqualTo(2);
		return this.stocks.getCount(PRODUCT);
	}

	private boolean aTransactionWaits() {
		return count("select count(*) from information_schema.sessions where blocker_id is not null") > 0;
	}

	private int count(String query) {
		return this.jdbc.sql(query).query(Integer.class).single();
	}

	private static void await(Callable<Boolean> condition) {
		Awaitility.await().atMost(Duration.ofMinutes(1)).until(condition);
	}

	private static final class Sale {

		private final FutureTask<?> task;

		private final Thread thread;

		Sale(Runnable sale) {
			this.task = new FutureTask<>(sale, null);
			this.thread = new Thread(this.task);
		}

		/** Return whether it wants a lock of the JVM that the other one owns. */
		boolean waitsFor(Sale other) {
			ThreadInfo info = ManagementFactory.getThreadMXBean().getThreadInfo(this.thread.getId());
			return info != null && info.getLockOwnerId() == other.thread.getId();
		}

	}

}
