// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import org.jspecify.annotations.Nullable;

import org.springframework.context.annotation.Bean;
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

		private final Map<Thread, Integer> counts = new ConcurrentHashMap<>();

		private volatile @Nullable Thread thread;

		private volatile CountDownLatch gate = new CountDownLatch(0);

		public CountDownLatch hold(Thread thread) {
			this.gate = new CountDownLatch(1);
			this.thread = thread;
			return this.gate;
		}

		public boolean isHeld(Thread thread) {
			return count(thread) > 0;
		}

		public int count(Thread thread) {
			return this.counts.getOrDefault(thread, 0);
		}

		@Override
		public void beforeCommit(TransactionExecution transaction) {
			this.counts.merge(Thread.currentThread(), 1, Integer::sum);
			if (Thread.currentThread() == this.thread) {
				try {
					this.gate.await();
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
			}
		}

	}

}
