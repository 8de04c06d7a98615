// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Lock;
import java.util.function.LongFunction;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.test.Callers;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two instances close the same orders, and give what was ordered back to the stock. Their
 * lock is inside the transaction, as in many applications, and the first instance commits
 * only when the second one has read the order, or waits for the lock.
 */
class LockInsideTransactionTests extends AbstractShopTests {

	private static final int ORDERS = 40;

	private final JdbcClient jdbc;

	private final TransactionManager transactions;

	@Autowired
	LockInsideTransactionTests(JdbcClient jdbc, TransactionManager transactions) {
		this.jdbc = jdbc;
		this.transactions = transactions;
	}

	@BeforeEach
	void place40Orders() {
		this.jdbc.sql("drop table if exists placed_order").update();
		this.jdbc.sql("create table placed_order (id bigint primary key, state varchar(10), given_back int)").update();
		for (long id = 1; id <= ORDERS; id++) {
			this.jdbc.sql("insert into placed_order values (?, 'open', 0)").param(id).update();
		}
	}

	@Test
	void ourLockLastsUntilTheCommitSoEachOrderIsGivenBackOnce(@Autowired LockRegistry lockRegistry) throws Exception {
		assertThat(givenBack((id) -> lockRegistry.lock(LockKey.of("order", id)), true)).isEqualTo(ORDERS);
	}

	@Test
	void aLockThatIsReleasedBeforeTheCommitLetsEachOrderBeGivenBackTwice(
			@Autowired LettuceConnectionFactory connections) throws Exception {
		Config config = new Config();
		config.useSingleServer().setAddress("redis://" + connections.getHostName() + ":" + connections.getPort());
		RedissonClient redisson = Redisson.create(config);
		try {
			assertThat(givenBack((id) -> redisson.getLock("order:" + id), false)).isEqualTo(2 * ORDERS);
		}
		finally {
			redisson.shutdown();
		}
	}

	private int givenBack(LongFunction<Lock> locks, boolean untilCommit) throws Exception {
		for (long id = 1; id <= ORDERS; id++) {
			Orders orders = new Orders(this.jdbc, untilCommit);
			Closing closing = transactional(new OrderCloser(locks, orders));
			Callers.Call<Boolean> first = orders.close(closing, id);
			Callers.Call<Boolean> second = orders.close(closing, id);
			first.get();
			second.get();
		}
		return this.jdbc.sql("select sum(given_back) from placed_order").query(Integer.class).single();
	}

	private Closing transactional(OrderCloser target) {
		ProxyFactory proxy = new ProxyFactory(target);
		proxy.addAdvice(new TransactionInterceptor(this.transactions, new AnnotationTransactionAttributeSource()));
		return (Closing) proxy.getProxy();
	}

	interface Closing {

		void close(long orderId);

	}

	/**
	 * The example of docs/migrating.md.
	 */
	static class OrderCloser implements Closing {

		private final LongFunction<Lock> locks;

		private final Orders orders;

		OrderCloser(LongFunction<Lock> locks, Orders orders) {
			this.locks = locks;
			this.orders = orders;
		}

		@Override
		@Transactional
		public void close(long orderId) {
			Lock lock = this.locks.apply(orderId);
			lock.lock();
			try {
				if (this.orders.isOpen(orderId)) {
					this.orders.closeAndGiveBack(orderId);
				}
			}
			finally {
				lock.unlock();
			}
		}

	}

	/**
	 * The orders, for the two calls that close one of them.
	 */
	private static final class Orders {

		private final Set<Thread> callers = ConcurrentHashMap.newKeySet();

		private final CountDownLatch reads = new CountDownLatch(2);

		private final JdbcClient jdbc;

		private final boolean untilCommit;

		Orders(JdbcClient jdbc, boolean untilCommit) {
			this.jdbc = jdbc;
			this.untilCommit = untilCommit;
		}

		Callers.Call<Boolean> close(Closing closing, long id) {
			return Callers.start(() -> {
				this.callers.add(Thread.currentThread());
				closing.close(id);
				return true;
			});
		}

		boolean isOpen(long id) {
			String state = this.jdbc.sql("select state from placed_order where id = ?")
				.param(id)
				.query(String.class)
				.single();
			this.reads.countDown();
			return state.equals("open");
		}

		void closeAndGiveBack(long id) {
			this.jdbc.sql("update placed_order set state = 'closed', given_back = given_back + 1 where id = ?")
				.param(id)
				.update();
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void beforeCommit(boolean readOnly) {
					Thread first = Thread.currentThread();
					Awaitility.await()
						.atMost(Duration.ofMinutes(2))
						.pollDelay(Duration.ZERO)
						.pollInterval(Duration.ofMillis(1))
						.until(() -> hasRead() || (Orders.this.untilCommit && isWaiting(first)));
				}

			});
		}

		private boolean hasRead() {
			return this.reads.getCount() == 0;
		}

		private boolean isWaiting(Thread first) {
			return this.callers.stream()
				.filter((caller) -> caller != first)
				.anyMatch((caller) -> caller.getState() == Thread.State.TIMED_WAITING
						|| caller.getState() == Thread.State.WAITING);
		}

	}

}
