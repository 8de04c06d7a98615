// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.testkit;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;

/**
 * The application that docs/testing.md tests. No Redis listens on its port. It needs no
 * entities, which take seconds to start.
 */
@SpringBootApplication(exclude = { DataJpaRepositoriesAutoConfiguration.class, HibernateJpaAutoConfiguration.class })
class ShopApplication {

}
