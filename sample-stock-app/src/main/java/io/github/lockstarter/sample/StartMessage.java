// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/**
 * Prints the first commands to try when the application has started.
 */
@Component
class StartMessage {

	private static final Log logger = LogFactory.getLog(StartMessage.class);

	private final Environment environment;

	StartMessage(Environment environment) {
		this.environment = environment;
	}

	@EventListener(ApplicationReadyEvent.class)
	void log() {
		String port = this.environment.getProperty("local.server.port");
		if (port != null) {
			logger.info("""
					The shop is open. See it oversell at {shop}/, or try:
					  curl -X PUT -H 'Content-Type: application/json' -d '{"count":5000}' {shop}/api/stock/1001
					  curl -X POST '{shop}/api/stock/1001/deductions?count=1&strategy=distributed-lock'
					  curl {shop}/api/stock/1001
					  curl {shop}/api/strategies""".replace("{shop}", "http://localhost:" + port));
		}
	}

}
