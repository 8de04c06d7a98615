// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.report;

import java.time.Clock;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * Configuration for a scheduled job that is retried after a failure.
 */
@Configuration(proxyBeanMethods = false)
@EnableScheduling
@EnableResilientMethods
class ReportConfiguration {

	/**
	 * All instances agree on the day, wherever they run.
	 */
	@Bean
	Clock clock() {
		return Clock.systemUTC();
	}

}
