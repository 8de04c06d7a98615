// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.IntUnaryOperator;

import org.redisson.api.RedissonClient;

import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.AliasFor;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.scheduling.annotation.Scheduled;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LeasedLock;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnContention;

/**
 * The examples of the page about the migration from other libraries.
 */
class MigratingExamples {

	private final LockRegistry lockRegistry;

	private final LockTemplate lockTemplate;

	private final IntUnaryOperator sale;

	private final Map<String, Integer> tickets = new ConcurrentHashMap<>();

	private int invoices;

	MigratingExamples(LockRegistry lockRegistry, LockTemplate lockTemplate, IntUnaryOperator sale) {
		this.lockRegistry = lockRegistry;
		this.lockTemplate = lockTemplate;
		this.sale = sale;
	}

	int deductUnderBoth(RedissonClient redisson, long productId, int count) {
		Lock old = redisson.getLock("stock:" + productId);
		old.lock();
		try {
			return this.lockTemplate.execute(LockRequest.of("stock", productId), (lease) -> deduct(count));
		}
		finally {
			old.unlock();
		}
	}

	OptionalInt deductAsBefore(long productId, int count) throws InterruptedException {
		LeasedLock lock = this.lockRegistry.lock(LockKey.of("stock", productId));
		if (!lock.tryLock(5, 30, TimeUnit.SECONDS)) {
			return OptionalInt.empty();
		}
		try {
			return OptionalInt.of(deduct(count));
		}
		finally {
			if (lock.isHeldByCurrentThread()) {
				lock.unlock();
			}
		}
	}

	OptionalInt tryDeduct(long productId, int count) {
		LockRequest request = LockRequest.of("stock", productId).withWaitTime(Duration.ofSeconds(5));
		Optional<Lease> granted = this.lockRegistry.tryAcquire(request);
		try (Lease lease = granted.orElse(null)) {
			return (lease != null) ? OptionalInt.of(deduct(count)) : OptionalInt.empty();
		}
	}

	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock(waitTime = "0s", onContention = OnContention.SKIP)
	@interface ScheduledLock {

		@AliasFor(annotation = DistributedLock.class)
		String name();

		@AliasFor(annotation = DistributedLock.class, attribute = "holdAtLeast")
		String lockAtLeastFor() default "";

		@AliasFor(annotation = DistributedLock.class, attribute = "holdAtMost")
		String lockAtMostFor() default "";

	}

	@Scheduled(cron = "0 */15 * * * *")
	@ScheduledLock(name = "invoices", lockAtLeastFor = "10m", lockAtMostFor = "14m")
	public void sendInvoices() {
		Lease lease = Lease.current();
		this.invoices++;
		lease.ensureHeld();
	}

	static class IntegrationLocks {

		@Bean
		org.springframework.integration.support.locks.LockRegistry<LeasedLock> integrationLocks(LockRegistry locks) {
			return (key) -> locks.lock(LockKey.of("integration", key));
		}

	}

	Lock sharedLock(RedisLockRegistry registry, long productId) {
		return registry.obtain("{stock:" + productId + "}");
	}

	@DistributedLock(name = "stock", key = "#tenant + '.' + #productId", waitTime = "1s")
	public int deduct(String tenant, long productId, int count) {
		return deduct(count);
	}

	@DistributedLock(name = "ticket", key = "#event", mode = LockMode.FAIR, waitTime = "1m", fallback = "noTicket")
	public OptionalInt nextTicket(String event) {
		return OptionalInt.of(this.tickets.merge(event, 1, Integer::sum));
	}

	OptionalInt noTicket(String event) {
		return OptionalInt.empty();
	}

	private int deduct(int count) {
		return this.sale.applyAsInt(count);
	}

	int invoices() {
		return this.invoices;
	}

}
