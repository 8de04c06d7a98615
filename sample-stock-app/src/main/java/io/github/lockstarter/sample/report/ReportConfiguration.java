// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.report;

import java.time.Clock;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * Configuration for a job that is started by the clock and tried again when it failed.
 */
@Configuration(proxyBeanMethods = false)
@EnableScheduling
@EnableResilientMethods
class ReportConfiguration {

	/**
	 * The time that all instances agree on, wherever they run.
	 */
	@Bean
	Clock clock() {
		return Clock.systemUTC();
	}

}
