// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * A test of a web application as a new user writes it: open-in-view is on, as it is by
 * default, and the pool of connections is smaller than the number of callers. Several
 * classes share it, because its start takes a second.
 */
@SpringBootTest(classes = OpenInViewApplication.Beans.class,
		properties = { "distributed-lock.store=memory", "distributed-lock.wait-time=60s",
				"spring.jpa.hibernate.ddl-auto=create-drop", "spring.datasource.hikari.maximum-pool-size=2" })
@AutoConfigureMockMvc
@Retention(RetentionPolicy.RUNTIME)
@interface OpenInViewApplication {

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ OpenInViewTests.Shelf.class, OpenInViewTests.Shop.class, OpenInViewTests.Steps.class,
			OpenInViewConnectionTests.Shelf.class, OpenInViewConnectionTests.Shop.class,
			PersistenceContextTests.Shelf.class, PersistenceContextTests.Events.class, NoLateLocksTests.Shop.class,
			NoLateLocksTests.Shelf.class })
	class Beans {

	}

}
