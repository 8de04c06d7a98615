// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test.autoconfigure;

import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/**
 * Lets no test see what the one before it has done to the locks of the application
 * context that they share.
 */
class TestLocksTestExecutionListener implements TestExecutionListener {

	@Override
	public void beforeTestMethod(TestContext test) {
		if (test.hasApplicationContext()) {
			test.getApplicationContext().getBeanProvider(TestLocks.class).ifAvailable(TestLocks::reset);
		}
	}

}
