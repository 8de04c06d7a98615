// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test.autoconfigure;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.test.context.TestPropertySource;

/**
 * Keeps the locks of all registries in the memory of the JVM, in a test slice such as
 * {@code @WebMvcTest} or {@code @DataJpaTest}, which has no locks without it, or in a
 * {@code @SpringBootTest}, which would otherwise need the servers of the application. The
 * test gets a {@link TestLocks} bean, and time stands still for the locks unless the test
 * moves it.
 *
 * <pre class="code">
 * &#064;WebMvcTest
 * &#064;AutoConfigureDistributedLocks
 * class StockControllerTests {
 *
 *     &#064;Autowired
 *     private TestLocks locks;
 * </pre>
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
@TestPropertySource(properties = "distributed-lock.enabled=false")
public @interface AutoConfigureDistributedLocks {

}
