// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.annotation.Import;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import io.github.lockstarter.LockRegistry;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A test slice has no locks, as it has no transactions: annotated beans run bare.
 */
@WebMvcTest
@Import({ SliceApplication.StockController.class, SliceApplication.Stock.class })
class WebSliceTests {

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private ListableBeanFactory beanFactory;

	@Test
	void annotatedBeansRunWithoutTheirLocks() {
		assertThat(this.mvc.get().uri("/annotated")).hasStatusOk().hasBodyTextEqualTo("deducted 1001");
		assertThat(this.beanFactory.getBeanNamesForType(LockRegistry.class)).isEmpty();
		assertThat(this.beanFactory.getBeanDefinitionNames()).noneMatch((name) -> name.contains("istributedLock"))
			.doesNotContain("locksHealthContributor");
	}

}
