// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceInitializationAutoConfiguration;
import org.springframework.boot.test.context.ConfigDataApplicationContextInitializer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;

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
		try (EmbeddedPostgres server = EmbeddedPostgres.builder()
			.setPort(ServerPort.find())
			.setPGStartupWait(Duration.ofMinutes(3))
			.start()) {
			JdbcTemplate database = new JdbcTemplate(server.getPostgresDatabase());
			for (int round = 0; round < ROUNDS; round++) {
				assertThat(startTogether(server.getPort())).containsOnlyNulls();
				database.execute("drop table orders, mall_stock, daily_report, sale_lock, failed_attempts");
			}
		}
	}

	private static List<@Nullable Throwable> startTogether(int port) throws Exception {
		CyclicBarrier together = new CyclicBarrier(INSTANCES);
		ExecutorService instances = Executors.newFixedThreadPool(INSTANCES);
		try {
			List<@Nullable Throwable> failures = new ArrayList<>();
			Callable<@Nullable Throwable> start = () -> start(port, together);
			for (Future<@Nullable Throwable> started : instances.invokeAll(Collections.nCopies(INSTANCES, start))) {
				failures.add(started.get());
			}
			return failures;
		}
		finally {
			instances.shutdown();
		}
	}

	private static @Nullable Throwable start(int port, CyclicBarrier together) throws Exception {
		List<@Nullable Throwable> failures = new ArrayList<>();
		together.await();
		new ApplicationContextRunner().withInitializer(new ConfigDataApplicationContextInitializer())
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
					DataSourceInitializationAutoConfiguration.class))
			.withPropertyValues("spring.profiles.active=postgresql",
					"spring.datasource.url=jdbc:postgresql://localhost:" + port + "/postgres",
					"spring.datasource.username=postgres")
			.run((context) -> failures.add(context.getStartupFailure()));
		return failures.get(0);
	}

}
