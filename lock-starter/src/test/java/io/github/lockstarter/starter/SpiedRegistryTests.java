// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A spy of the registry locks as the registry does, and sees each acquisition.
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

	@Test
	void itSeesTheLocksOfMethodsAndBodies(@Autowired MockedRegistryTests.Stock stock,
			@Autowired LockTemplate template) {
		LockRequest request = LockRequest.of("stock");
		stock.deduct();
		Mockito.verify(this.spy).acquire(request);
		template.executeWithoutResult(request, Lease::ensureHeld);
		new LockTemplate(this.spy).executeWithoutResult(request, Lease::ensureHeld);
		Mockito.verify(this.spy, Mockito.times(3)).acquire(request);
		template.executeWithoutResult(List.of(request), LeaseSet::ensureHeld);
		Mockito.verify(this.spy).acquireAll(List.of(request));
		assertThat(stock.later()).succeedsWithin(Duration.ofSeconds(20));
		Mockito.verify(this.spy).acquireAsync(request);
		assertThat(template.executeAsync(List.of(request), (leases) -> CompletableFuture.completedFuture(1)))
			.succeedsWithin(Duration.ofSeconds(20));
		Mockito.verify(this.spy).acquireAllAsync(List.of(request));
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
