// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.function.IntUnaryOperator;

import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.autoconfigure.DistributedLockAutoConfiguration;
import io.github.lockstarter.engine.Time;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What docs/migrating.md shows runs, beside the libraries that it comes from.
 */
class MigratingTests extends AbstractShopTests {

	private static final LockRequest WITHOUT_WAITING = LockRequest.of("stock", 99).withWaitTime(Duration.ZERO);

	private final LockRegistry registry;

	private final LockTemplate template;

	private final LettuceConnectionFactory connections;

	@Autowired
	MigratingTests(LockRegistry registry, LockTemplate template, LettuceConnectionFactory connections) {
		this.registry = registry;
		this.template = template;
		this.connections = connections;
	}

	@Test
	void theExamplesRun() {
		ManualTime time = new ManualTime();
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(AopAutoConfiguration.class, DistributedLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.store=memory")
			.withBean(Time.class, () -> time)
			.withBean(IntUnaryOperator.class, () -> (count) -> 5 - count)
			.withBean(MigratingExamples.class)
			.withUserConfiguration(MigratingExamples.IntegrationLocks.class)
			.run((context) -> {
				MigratingExamples examples = context.getBean(MigratingExamples.class);
				LockRegistry locks = context.getBean(LockRegistry.class);
				assertThat(examples.deductAsBefore(1, 2)).hasValue(3);
				assertThat(examples.tryDeduct(1, 2)).hasValue(3);
				assertThat(examples.deduct("a", 1, 2)).isEqualTo(3);
				examples.sendInvoices();
				assertThat(locks.tryAcquire(LockRequest.of("invoices").withWaitTime(Duration.ZERO))).isEmpty();
				Callers.start(() -> {
					examples.sendInvoices();
					return true;
				}).get();
				assertThat(examples.invoices()).isOne();
				assertThat(examples.nextTicket("concert")).hasValue(1);
				try (Lease lease = locks.acquire(LockRequest.of("ticket", "concert"))) {
					assertThat(Callers.start(() -> time.letPass(() -> examples.nextTicket("concert"))).get())
						.isEqualTo(OptionalInt.empty());
				}
				AtomicInteger groups = new AtomicInteger();
				org.springframework.integration.support.locks.LockRegistry<?> integration = context
					.getBean(org.springframework.integration.support.locks.LockRegistry.class);
				integration.executeLocked("group", () -> {
					assertThat(isFree(locks, LockRequest.of("integration", "group"))).isFalse();
					groups.incrementAndGet();
				});
				assertThat(groups).hasValue(1);
			});
	}

	@Test
	void aBodyUnderBothLocksExcludesInstancesBeforeAndAfterTheMigration() {
		Config config = new Config();
		config.useSingleServer()
			.setAddress("redis://" + this.connections.getHostName() + ":" + this.connections.getPort());
		RedissonClient redisson = Redisson.create(config);
		try {
			MigratingExamples examples = new MigratingExamples(this.registry, this.template, (count) -> {
				assertThat(call(() -> redisson.getLock("stock:99").tryLock())).isFalse();
				assertThat(isFree(this.registry, WITHOUT_WAITING)).isFalse();
				return 5 - count;
			});
			assertThat(examples.deductUnderBoth(redisson, 99, 2)).isEqualTo(3);
			assertThat(redisson.getLock("stock:99").isLocked()).isFalse();
		}
		finally {
			redisson.shutdown();
		}
	}

	@Test
	void aKeyOfSpringIntegrationCanBeTheKeyOfOurLock() {
		RedisLockRegistry old = new RedisLockRegistry(this.connections, "lock");
		MigratingExamples examples = new MigratingExamples(this.registry, this.template, (count) -> count);
		Lock shared = examples.sharedLock(old, 99);
		try {
			shared.lock();
			assertThat(isFree(this.registry, WITHOUT_WAITING)).isFalse();
			shared.unlock();
			try (Lease lease = this.registry.acquire(LockRequest.of("stock", 99))) {
				assertThat(shared.tryLock()).isFalse();
				lease.ensureHeld();
			}
		}
		finally {
			old.destroy();
		}
	}

	private static boolean isFree(LockRegistry locks, LockRequest request) {
		return call(() -> {
			Optional<Lease> granted = locks.tryAcquire(request.withWaitTime(Duration.ZERO));
			granted.ifPresent(Lease::close);
			return granted.isPresent();
		});
	}

	/**
	 * Call on another thread: all locks are reentrant.
	 */
	private static <T> T call(Callable<T> call) {
		try {
			return Callers.start(call).get();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

}
