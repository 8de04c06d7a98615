// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.time.Clock;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * The shop, with a nightly report that is scheduled, and retried after a failure.
 */
@SpringBootApplication
@EnableScheduling
@EnableResilientMethods
public class StockApplication {

	public static void main(String[] args) {
		SpringApplication.run(StockApplication.class, args);
	}

	/**
	 * All instances agree on the day, wherever they run.
	 */
	@Bean
	Clock clock() {
		return Clock.systemUTC();
	}

}
