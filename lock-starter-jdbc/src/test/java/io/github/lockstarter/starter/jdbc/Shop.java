// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.jdbc;

import java.util.concurrent.Callable;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.DistributedLock;

/**
 * An application with one dependency and one annotation.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class Shop {

	@Bean
	Sales sales(JdbcTemplate jdbc) {
		return new Sales(jdbc);
	}

	static class Sales {

		private final JdbcTemplate jdbc;

		Sales(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
			jdbc.execute("create table if not exists sale (product bigint)");
		}

		@DistributedLock(name = "stock", key = "#product")
		@Transactional
		public <T> T sell(long product, Callable<T> meanwhile) throws Exception {
			this.jdbc.update("insert into sale values (?)", product);
			return meanwhile.call();
		}

		int sold(long product) {
			Integer sold = this.jdbc.queryForObject("select count(*) from sale where product = ?", Integer.class,
					product);
			return (sold != null) ? sold : 0;
		}

	}

}
