// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import org.jspecify.annotations.Nullable;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.context.event.EventListener;
import org.springframework.resilience.retry.MethodRetryEvent;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.sample.stock.DeductionStrategy;

/**
 * What the tests add to the shop that they share. It has no annotation that a scan of the
 * packages would find, because other instances run from the same class path.
 */
public class ShopProbes {

	@Bean
	@Primary
	Clock fixedClock() {
		return Clock.fixed(Instant.parse("2026-08-24T03:00:00Z"), ZoneOffset.UTC);
	}

	@Bean
	Events events() {
		return new Events(new CopyOnWriteArrayList<>());
	}

	@Bean
	Commits commits() {
		return new Commits();
	}

	/**
	 * A second instance, for the tests that want one. It joins the servers of the first
	 * one, and is a little slower.
	 */
	@Bean(destroyMethod = "close")
	@Lazy
	ShopProcess secondInstance() {
		return ShopProcess
			.start(AbstractShopTests.DIRECTORY, "--distributed-lock.wait-time=1m", "--distributed-lock.lease-time=5m",
					"--distributed-lock.waiting.outage-time=1m",
					"--spring.datasource.hikari.connection-init-sql=set lock_timeout 60000", "--shop.write-delay=2ms")
			.awaitOpen();
	}

	@Bean
	Retries retries() {
		return new Retries();
	}

	@Bean
	DeductionStrategy unavailable() {
		return (productId, count) -> {
			throw new LockUnavailableException(LockKey.of("stock", productId), "no answer from 10.0.0.7", null);
		};
	}

	@Bean
	DeductionStrategy lost() {
		return (productId, count) -> {
			throw new LockLostException(LockKey.of("stock", productId), 1, "its lease expired");
		};
	}

	/**
	 * The events of the locks of reports.
	 */
	public record Events(List<LockEvent> list) implements LockListener {

		@Override
		public void onEvent(LockEvent event) {
			if (event.key().name().equals("daily-report")) {
				this.list.add(event);
			}
		}

	}

	/**
	 * Does something between two attempts of a retried method.
	 */
	public static final class Retries {

		private volatile Runnable between = () -> {
		};

		public void between(Runnable action) {
			this.between = action;
		}

		@EventListener(condition = "!#event.retryAborted")
		public void failed(MethodRetryEvent event) {
			this.between.run();
		}

	}

	/**
	 * Lets the sale of one thread wait before its commit.
	 */
	public static final class Commits implements TransactionExecutionListener {

		private volatile @Nullable Held held;

		public Held hold(Thread thread) {
			Held held = new Held(thread, new CountDownLatch(1), new CountDownLatch(1));
			this.held = held;
			return held;
		}

		@Override
		public void beforeCommit(TransactionExecution transaction) {
			Held held = this.held;
			if (held != null && held.thread == Thread.currentThread()) {
				held.reached.countDown();
				try {
					held.released.await();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
			}
		}

		/**
		 * A sale that waits, from its end until it is closed.
		 */
		public record Held(Thread thread, CountDownLatch reached, CountDownLatch released) implements AutoCloseable {

			@Override
			public void close() {
				this.released.countDown();
			}

		}

	}

}
