// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.annotation.Import;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LockStore;

import static org.assertj.core.api.Assertions.assertThat;

@WebMvcTest(properties = "spring.data.redis.port=1")
@Import({ SliceApplication.StockController.class, SliceApplication.Stock.class })
class WebSliceTests {

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private LockStore store;

	@Test
	void locksAreInMemory() {
		assertThat(this.store).isInstanceOf(MemoryLockStore.class);
	}

	@Test
	void annotatedBeansAreLocked() {
		assertThat(this.mvc.get().uri("/annotated")).hasStatusOk().hasBodyTextEqualTo("stock:1001");
	}

	@Test
	void templatesWork() {
		assertThat(this.mvc.get().uri("/template")).hasStatusOk().hasBodyTextEqualTo("stock:1001");
	}

}
