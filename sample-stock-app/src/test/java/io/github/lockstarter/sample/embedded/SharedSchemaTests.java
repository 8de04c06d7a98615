// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.util.Collections;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceInitializationAutoConfiguration;
import org.springframework.boot.test.context.ConfigDataApplicationContextInitializer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Instances that create the tables of the shop in PostgreSQL at the same moment.
 */
class SharedSchemaTests {

	private static final int INSTANCES = 4;

	private static final int ROUNDS = 5;

	@Test
	@FullProfileOnly
	void allOfThemStart() throws Exception {
		ExecutorService instances = Executors.newFixedThreadPool(INSTANCES);
		try {
			for (int round = 0; round < ROUNDS; round++) {
				String url = SharedServers.postgres();
				CyclicBarrier together = new CyclicBarrier(INSTANCES);
				Callable<Void> start = () -> start(url, together);
				for (Future<Void> started : instances.invokeAll(Collections.nCopies(INSTANCES, start))) {
					started.get();
				}
			}
		}
		finally {
			instances.shutdown();
		}
	}

	private static Void start(String url, CyclicBarrier together) throws Exception {
		together.await();
		new ApplicationContextRunner().withInitializer(new ConfigDataApplicationContextInitializer())
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
					DataSourceInitializationAutoConfiguration.class))
			.withPropertyValues("spring.profiles.active=postgresql", "spring.datasource.url=" + url)
			.run((context) -> assertThat(context).hasNotFailed());
		return null;
	}

}
