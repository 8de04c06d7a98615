// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A mock replaces the registry that is injected by its type, and leaves those of other
 * stores.
 */
@SpringBootTest(classes = MockedRegistryTests.Application.class, properties = "distributed-lock.store=memory")
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

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

}
