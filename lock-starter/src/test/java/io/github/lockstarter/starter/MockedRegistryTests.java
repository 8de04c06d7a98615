// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A mock replaces the registry that is injected by its type, and leaves those of other
 * stores.
 */
@SpringBootTest(classes = MockedRegistryTests.Application.class, webEnvironment = SpringBootTest.WebEnvironment.NONE,
		properties = "distributed-lock.store=memory")
class MockedRegistryTests {

	@MockitoBean
	private LockRegistry registry;

	@Autowired
	@Qualifier("redisLockRegistry")
	private LockRegistry other;

	@Test
	void theMockIsInjected(@Autowired LockRegistry injected) {
		LockRequest request = LockRequest.of("stock");
		injected.tryAcquire(request);
		Mockito.verify(this.registry).tryAcquire(request);
		assertThat(Mockito.mockingDetails(this.other).isMock()).isFalse();
	}

	@Test
	void aMockThatReturnsNothingFailsWithASentence(@Autowired Stock stock, @Autowired LockTemplate template) {
		LockRequest request = LockRequest.of("stock");
		for (ThrowingCallable each : List.<ThrowingCallable>of(stock::deduct,
				() -> stock.later().get(20, TimeUnit.SECONDS), () -> template.execute(request, (lease) -> 1),
				() -> template.execute(List.of(request), (leases) -> 1),
				() -> template.executeAsync(request, (lease) -> CompletableFuture.completedFuture(1))
					.get(20, TimeUnit.SECONDS))) {
			assertThatThrownBy(each).hasStackTraceContaining("A mock has to return one");
		}
	}

	static class Stock {

		@DistributedLock(name = "stock")
		public boolean deduct() {
			return Lease.current().isHeld();
		}

		@DistributedLock(name = "stock")
		public CompletableFuture<Boolean> later() {
			return CompletableFuture.completedFuture(Lease.current().isHeld());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Stock.class)
	@EnableAutoConfiguration(
			exclude = { HibernateJpaAutoConfiguration.class, DataJpaRepositoriesAutoConfiguration.class })
	static class Application {

	}

}
