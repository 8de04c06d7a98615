// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Shortens the poll interval, so that tests continue soon after their condition holds,
 * and gives slow machines more time, but less than a lease lasts by default. JUnit finds
 * this {@link Extension} by itself.
 */
public class PromptPolling implements BeforeAllCallback {

	private static final Duration INTERVAL = Duration.ofMillis(10);

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	@Override
	public void beforeAll(ExtensionContext context) {
		Awaitility.setDefaultPollDelay(Duration.ZERO);
		Awaitility.setDefaultPollInterval(INTERVAL);
		Awaitility.setDefaultTimeout(TIMEOUT);
		// Else a test fails for what another one lets a thread of the engine throw
		Awaitility.doNotCatchUncaughtExceptionsByDefault();
	}

}
