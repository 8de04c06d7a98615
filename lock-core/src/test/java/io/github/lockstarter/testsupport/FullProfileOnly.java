// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Tag;

/**
 * A long test that runs only in the Maven profile {@code full}. Each promise has other
 * tests as well; see CONTRIBUTING.md.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Tag("full")
@Target({ ElementType.TYPE, ElementType.METHOD })
public @interface FullProfileOnly {

}
