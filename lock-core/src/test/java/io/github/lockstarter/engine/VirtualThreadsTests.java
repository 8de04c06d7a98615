// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.ThreadFactory;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Virtual threads where the JDK has them.
 */
class VirtualThreadsTests {

	@Test
	@EnabledForJreRange(min = JRE.JAVA_21)
	void threadsAreVirtualAndHaveNames() throws Exception {
		ThreadFactory factory = VirtualThreads.factory("lock-async-");
		Thread first = factory.newThread(() -> {
		});
		Thread second = factory.newThread(() -> {
		});
		assertThat(Thread.class.getMethod("isVirtual").invoke(first)).isEqualTo(true);
		assertThat(first.getName()).isEqualTo("lock-async-1");
		assertThat(second.getName()).isEqualTo("lock-async-2");
	}

	@Test
	@EnabledForJreRange(max = JRE.JAVA_20)
	void anOlderJdkHasNone() {
		assertThat(VirtualThreads.factory("lock-async-")).isNull();
	}

}
