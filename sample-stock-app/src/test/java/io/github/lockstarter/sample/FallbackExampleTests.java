// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.autoconfigure.DistributedLockAutoConfiguration;
import io.github.lockstarter.engine.Time;
import io.github.lockstarter.sample.FallbackExample.Price;
import io.github.lockstarter.spring.LockRegistryFactory;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;

class FallbackExampleTests {

	private final AtomicLong cents = new AtomicLong(700);

	private final ManualTime time = new ManualTime();

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, DistributedLockAutoConfiguration.class))
		.withPropertyValues("distributed-lock.store=memory")
		.withBean(Time.class, () -> this.time)
		.withBean(FallbackExample.Supplier.class, () -> (productId) -> new Price(this.cents.getAndIncrement()))
		.withBean(FallbackExample.class);

	@Test
	void theLastPriceIsReturnedWhileSomebodyElseAsksForANewOne() {
		this.contextRunner.run((context) -> {
			FallbackExample example = context.getBean(FallbackExample.class);
			assertThat(example.refreshPrice(7)).hasValue(new Price(700));
			try (Lease held = context.getBean(LockRegistry.class).acquire(LockRequest.of("price", 7))) {
				CompletableFuture<Optional<Price>> other = CompletableFuture
					.supplyAsync(() -> this.time.letPass(() -> example.refreshPrice(7)));
				assertThat(other.join()).hasValue(new Price(700));
			}
			assertThat(example.outages()).isZero();
		});
	}

	@Test
	void theLastPriceIsReturnedDuringAnOutage() {
		this.contextRunner.run((context) -> {
			FallbackExample example = context.getBean(FallbackExample.class);
			assertThat(example.refreshPrice(7)).hasValue(new Price(700));
			context.getBean(LockRegistryFactory.class).stop();
			assertThat(example.refreshPrice(7)).hasValue(new Price(700));
			assertThat(example.outages()).isOne();
		});
	}

}
