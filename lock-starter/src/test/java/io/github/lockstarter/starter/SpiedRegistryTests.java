// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A spy of the registry locks as the registry does.
 */
@SpringBootTest(classes = MockedRegistryTests.Application.class, webEnvironment = SpringBootTest.WebEnvironment.NONE,
		properties = "distributed-lock.store=memory")
class SpiedRegistryTests {

	@MockitoSpyBean
	private LockRegistry spy;

	@Test
	void itLocks(@Autowired MockedRegistryTests.Stock stock, @Autowired LockTemplate template,
			@Autowired PlatformTransactionManager transactions) {
		LockRequest request = LockRequest.of("stock");
		assertThat(stock.deduct()).isTrue();
		assertThat(stock.later()).succeedsWithin(Duration.ofSeconds(20)).isEqualTo(true);
		assertThat(template.<Boolean>execute(request, Lease::isHeld)).isTrue();
		new TransactionTemplate(transactions).executeWithoutResult((status) -> {
			template.executeWithoutResult(request, Lease::ensureHeld);
			assertThat(isTaken(request)).isTrue();
		});
		assertThat(isTaken(request)).isFalse();
	}

	private boolean isTaken(LockRequest request) {
		return CompletableFuture
			.supplyAsync(() -> this.spy.tryAcquire(request.withWaitTime(Duration.ZERO)).map((lease) -> {
				lease.close();
				return false;
			}).orElse(true))
			.join();
	}

}
