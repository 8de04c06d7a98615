// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

import io.github.lockstarter.memory.LocalStores;
import io.github.lockstarter.test.ManualTime;

/**
 * Auto-configuration for tests: what keeps and controls the locks.
 */
@AutoConfiguration
public final class TestLocksAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	ManualTime distributedLockTestTime() {
		return new ManualTime();
	}

	@Bean
	TestLocks distributedLockTestLocks(ManualTime time) {
		return new TestLocks(time);
	}

	@Bean
	LocalStores distributedLockTestStores(TestLocks locks) {
		return locks::createStore;
	}

}
