// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import org.junit.jupiter.api.Test;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.autoconfigure.OverrideAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * A slice without locks.
 */
@SpringBootTest(classes = SliceApplication.Stock.class)
@OverrideAutoConfiguration(enabled = false)
class WithoutLocksTests {

	@MockitoBean
	private SliceApplication.Stock stock;

	@Test
	void aMockMayTakeThePlaceOfAnAnnotatedBean() {
		assertThat(this.stock.deduct(1001)).isNull();
	}

	@Test
	void anAnnotatedBeanEndsTheStart() {
		SpringApplicationBuilder application = new SpringApplicationBuilder(SliceApplication.Stock.class)
			.web(WebApplicationType.NONE);
		assertThat(catchThrowable(application::run)).hasStackTraceContaining("has no distributed locks")
			.hasStackTraceContaining(SliceApplication.Stock.class.getName());
	}

	@Test
	void withLocksSwitchedOffItStarts() {
		new SpringApplicationBuilder(SliceApplication.Stock.class).web(WebApplicationType.NONE)
			.run("--distributed-lock.enabled=false")
			.close();
	}

}
