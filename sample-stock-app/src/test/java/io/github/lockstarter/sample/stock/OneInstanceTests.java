// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.jdbc.core.simple.JdbcClient;

import io.github.lockstarter.sample.AbstractShopTests;
import io.github.lockstarter.sample.ShopProbes.Commits;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two sales in one instance, in the least favourable order: the first one commits only
 * when the second one can go no further.
 */
class OneInstanceTests extends AbstractShopTests {

	private static final long PRODUCT = 1001;

	private static final int STOCK = 10;

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@Autowired
	private Map<String, DeductionStrategy> strategies;

	@Autowired
	private StockRepository stocks;

	@Autowired
	private JdbcClient jdbc;

	@Autowired
	private Commits commits;

	@ParameterizedTest
	@ValueSource(strings = { "synchronized", "reentrant-lock", "conditional-update", "select-for-update",
			"optimistic-version" })
	void remembersBothSales(String strategy) throws Exception {
		sellTwice(strategy);
		assertThat(this.stocks.getCount(PRODUCT)).isEqualTo(STOCK - 2);
	}

	@ParameterizedTest
	@ValueSource(strings = { "none", "reentrant-lock-prototype", "synchronized-in-transaction" })
	void forgetsASale(String strategy) throws Exception {
		sellTwice(strategy);
		assertThat(this.stocks.getCount(PRODUCT)).isEqualTo(STOCK - 1);
	}

	@Test
	void anOptimisticSaleIsInVainIfSomebodyElseIsFaster() throws Exception {
		assertThat(sellTwice("optimistic-version")).isEqualTo(2);
		assertThat(failedAttempts()).isEqualTo(1);
		assertThat(sellTwice("select-for-update")).isEqualTo(1);
		assertThat(failedAttempts()).isNull();
	}

	private @Nullable Long failedAttempts() {
		return this.stocks.findReport(PRODUCT).orElseThrow().failedAttempts();
	}

	/** Return the number of transactions that the second sale needed. */
	private int sellTwice(String name) throws Exception {
		this.stocks.reset(PRODUCT, STOCK);
		DeductionStrategy strategy = Objects.requireNonNull(this.strategies.get(name));
		Sale first = new Sale(strategy);
		Sale second = new Sale(strategy);
		CountDownLatch commit = this.commits.hold(first.thread);
		try {
			first.thread.start();
			Awaitility.await().atMost(PATIENCE).until(() -> this.commits.isHeld(first.thread));
			second.thread.start();
			Awaitility.await()
				.atMost(PATIENCE)
				.until(() -> second.waitsFor(first) || aTransactionWaits() || second.task.isDone());
		}
		finally {
			commit.countDown();
		}
		first.task.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
		second.task.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
		return this.commits.count(second.thread);
	}

	private boolean aTransactionWaits() {
		return this.jdbc.sql("select count(*) from information_schema.sessions where blocker_id is not null")
			.query(Integer.class)
			.single() > 0;
	}

	private static final class Sale {

		private final FutureTask<Integer> task;

		private final Thread thread;

		Sale(DeductionStrategy strategy) {
			this.task = new FutureTask<>(() -> strategy.deduct(PRODUCT, 1));
			this.thread = new Thread(this.task);
		}

		/** Return whether it wants a lock of the JVM that the other one owns. */
		boolean waitsFor(Sale other) {
			ThreadInfo info = ManagementFactory.getThreadMXBean().getThreadInfo(this.thread.getId());
			return info != null && info.getLockOwnerId() == other.thread.getId();
		}

	}

}
